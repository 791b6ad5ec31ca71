"""Built-in steps around a query: ask a database, copy what it says to where others look, and tell a chat.

The database's URL and the webhook are keys of secrets: they reach the pods alone.

    couler compile examples/table_to_site.py --to argo
"""

import couler_py as couler
from couler_py.steps import copy, notify, sql

QUERY = "select region, sum(amount) as amount from sales where day = :day group by region"

ask = sql.with_options(
    secrets=[couler.secret("warehouse", "DB_URL")], packages=["SQLAlchemy>=2.0", "psycopg[binary]>=3.2"]
)
tell = notify.with_options(secrets=[couler.secret("chat", "CHAT_URL")])
publish = copy.with_options(packages=["s3fs"], env={"AWS_DEFAULT_REGION": "eu-central-1"})


@couler.workflow
def table_to_site(day: str = "2026-01-31"):
    found = ask(QUERY, url_variable="DB_URL", parameters={"day": day})
    kept = publish("s3://reports/template/", couler.format("s3://reports/{}/", day))
    told = tell(couler.format("{}: {} regions, {} files", day, found.rows, kept.files), url_variable="CHAT_URL")
    [found, kept] >> told
