"""What people say around what they want: greetings, wishes, and what there is already."""

from __future__ import annotations

import re

_IGNORED_HEADS = re.compile(
    r"^(?:hey|hi|hello|thanks?|thank you|please(?=[ .!]*$)|cheers|dear|so basically|note|title|hope|regards|best|steps?|the steps|workflow|pipeline|todo|plan|here(?:'s| is)?|merci|danke|gracias)\b[^,:.]*$"
)
_HAVING = re.compile(
    r"^(?:(?:so|basically|well|hi|hey|ok|and|but|because|since|currently|right now|today)[ ,]*)*(?:we|i|you|they|our team|the team|there|it|here|my|our|this)(?:'ve|'s|'re|'d| have| has| had| got| are| is| use| need| want| would like| receive| am| was| were| currently| also| already)+(?! to\b)(?! been\b)\b"
)
_LIES = re.compile(
    r"^(?:and |the |our |my |all |raw |input |training )*(?:data|datasets?|inputs?|sources?|files?|images?|tables?|logs|corpus|events)(?: [a-z]+)? (?:is|are|lives?|comes?|lies?|sits?|can be found|resides?)\b(?! (?:being )?(?!located|stored|kept|saved|provided|found|placed|contained|named|called|needed)(?:[a-z]+ed|read|split|sent|built|put)\b)"
)
_RUNS = re.compile(
    r"^(?:(?:and|but|also|please|all of|all)[ ,]*)*(?:it|this|that|everything|the (?:whole )?(?:thing|workflow|pipeline|job|run|process|flow))(?: whole thing)? (?:(?:should|must|has to|needs to|will|is to|shall|can) )?(?:all )?(?:be )?(?:runs?|starts?|started|happens?|executed?|executes?|scheduled?|triggered|kicked off)(?: (?:on its own|by itself|automatically|please|regularly))?[ .!]*$"
)
_MADE = re.compile(
    r"^(?:please )?(?:build|create|make|give|write|set up|design|construct|develop|implement|define|generate|put together)(?: me| us)? (?:an? |the |this |my )?(?:[a-z-]+ ){0,3}?(?:pipeline|workflow|dag|flow)(?: with)?[ .:!]*$"
)
_WANTING = re.compile(
    r"^(?:(?:is it|would it be|it (?:would|should) be|it'd be) (?:possible|great|nice|good|helpful|cool|feasible)(?: for (?:you|me|us))?(?: to| if (?:you|we|i|it)(?: could| can| would)?)|(?:i was wondering|i wonder|wondering) (?:if|whether) (?:you|we|one) (?:could|can|would)|what (?:would be|is) the (?:best|right|easiest) way to|how (?:do|can|would|should) (?:i|we|you)|(?:the|our|my|your) (?:goal|aim|idea|plan|task|job|purpose|point) (?:is|would be|here is)(?: to| that we)?|(?:what )?(?:i|we) (?:want|need|would like)(?: is)?(?: to)?(?: :)?|ideally(?: ,)?(?: we| it| i)?(?: would| should)?)\s+(?:first )?(?=\S)|^(?:(?:so|basically|well|hi|hey|ok|okay|and|but|please|now|hello|also|could you|can you|would you|kindly)[ ,]+)*(?:(?:i|we|you)(?:'d|'ll| would| will| want| need| have(?= to)| should| must| can| could)?(?: like| love| want| need| have(?= to))?(?: you)?(?: to| a| an| it to)?|let'?s|let us|it should|it must|it has to|help me(?: to)?|(?:build|create|make|give|write|set up|design|construct|develop|implement|define|generate|put together)(?: me| us)? (?:an? |the |this |my )?(?:[a-z-]+ ){0,4}?(?:pipeline|workflow|dag|flow|job|something|thing)s?(?:,? (?:that|which|to|where|for|should|will|it|must))*|the (?:pipeline|workflow|job|dag|flow) (?:should|must|has to|needs to|will)|(?:a|an|the|my|our|this)?\s*(?:[a-z]+ )?(?:pipeline|workflow|dag|flow|job) (?:that|which|to|where|for|should)|should|must|which|that|to)\s+(?=\S)"
)
_WORKFLOW = re.compile(
    r"^(?:(?:a|an|the|my|our|this|please|me|new|simple|small|some|kind|of|nightly|daily|weekly|machine|learning|ml|data|etl|ci|cd|argo|airflow|training|whole|full|end-to-end)\s+)*(?:pipelines?|workflows?|dags?|flows?|jobs?)(?:\s+(?:that|which|to|where|for|should|will|please|with))*\b"
)


def wanting(text: str) -> int:
    """How many signs at the beginning of a clause only say that somebody wants what follows."""
    at = 0
    for pattern in (_WANTING, _WORKFLOW):
        found = pattern.match(text[at:])
        if found is not None:
            at += found.end()
    return at


def says_nothing(text: str) -> bool:
    """Whether a clause is a greeting, or says what there is."""
    return any(pattern.match(text) for pattern in (_IGNORED_HEADS, _HAVING, _LIES, _RUNS, _MADE))
