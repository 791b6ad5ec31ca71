"""Descriptions as different people write them, and the steps that they say: no more, no fewer."""

from __future__ import annotations

import pytest

from couler_py.ir.model import Graph
from couler_py.nl import ask

SAID = (
    (
        "Load sales.csv, clean it, train a random forest, an svm and an xgboost model in parallel, pick the best by "
        "accuracy, and if accuracy is above 0.9 publish it, otherwise alert me by email. Every night at 3 in Berlin.",
        "load clean train_random_forest train_svm train_xgboost pick_best publish alert_email",
    ),
    ("Three tables (orders, customers, products) load in parallel, then join them.", "load join"),
    (
        "Train two models, a logistic regression and a gradient boosting classifier, in parallel and keep the better "
        "one by F1.",
        "train_two_models keep_better",
    ),
    ("Test on python 3.10, 3.11 and 3.12 in parallel; if all pass, publish it.", "test_python publish"),
    ("Split data.csv into train and test, fit a model.", "split fit_model"),
    ("Load the csv. Nice weather today. Then clean it.", "load_csv clean"),
    ("Check the files in /in; if so, process them, otherwise do nothing.", "check_files process stop"),
    ("Train model A and model B at once, keep whichever has the lower rmse.", "train keep_whichever_has_lower"),
    ("In parallel: (1) lint the code, (2) check types. Then build it.", "lint_code check_types build"),
    ("Download 3 files (a.csv, b.csv, c.csv) in parallel and concatenate them.", "download_files concatenate"),
    ("If the drift is above 0.2, retrain the model, otherwise log the score.", "measure_drift retrain_model log_score"),
    ("Wait for approval by the manager before deploying to production.", "approve_manager deploy_production"),
    ("Take the iris data set, run k-means with k = 2, 3, 4 and 5.", "load_iris_data_set run_k_means"),
    ("Get weather for Paris, Rome and Madrid in parallel, put them in one table.", "get_weather put_table"),
    ("Load a.csv, actually load b.csv, then clean it.", "load clean"),
    ("Train a tree on a.csv with depth 6. Hmm, 6 is too shallow, take 9. Then evaluate it.", "train_tree evaluate"),
    (
        "Every night... no, forget that. Pull a.csv, typeset the report, sessionize the logs.",
        "pull typeset_report sessionize_logs",
    ),
    (
        "Ingestion of t.json, deduplication, topic clustering, refresh of the dashboard.",
        "load clean cluster_topic refresh_dashboard",
    ),
    ("Scarica meteo.csv, normalizza le misure e disegna un grafico.", "load transform plot"),
    ("Run the simulation 10 times in parallel on a.csv and average the results.", "run_simulation_times average"),
    (
        "Hey, could you make me something that grabs the latest prices from https://api.example.com/prices, stores "
        "them in prices.parquet and pings #trading on Slack if anything breaks? Thanks!",
        "grab_latest_prices store",
    ),
)  # fmt: skip


def steps(text: str) -> list[str]:
    workflow = ask(text).workflow
    assert workflow is not None
    graphs = [each.body for each in workflow.templates if isinstance(each.body, Graph)]
    blocks = {each.name for each in workflow.templates if isinstance(each.body, Graph)}
    return [task.name for graph in graphs for task in graph.tasks if task.name not in blocks]


@pytest.mark.parametrize(("text", "names"), SAID)
def test_a_description_has_the_steps_that_it_says(text: str, names: str) -> None:
    assert set(names.split()) <= set(steps(text))
    assert len(steps(text)) == len(names.split())


@pytest.mark.parametrize(
    ("text", "cron", "zone"),
    [
        ("Load a.csv. Every night at 3 in Berlin.", "0 3 * * *", "Europe/Berlin"),
        ("Every Monday at 9am in London, load a.csv.", "0 9 * * 1", "Europe/London"),
        ("Load a.csv every hour on weekdays.", "0 * * * 1-5", "UTC"),
        ("Every first of the month at 6 in Zurich load a.csv.", "0 6 1 * *", "Europe/Zurich"),
    ],
)
def test_a_city_behind_the_time_is_its_zone(text: str, cron: str, zone: str) -> None:
    workflow = ask(text).workflow

    assert workflow is not None
    assert workflow.schedule is not None
    assert (workflow.schedule.crons, workflow.schedule.timezone) == ((cron,), zone)


@pytest.mark.parametrize("words", ["In Berlin", "On the moon", "Nice weather today", "No email please"])
def test_a_phrase_without_a_verb_is_no_step_and_is_said_to_be_unused(words: str) -> None:
    draft = ask(f"Load a.csv. {words}.")

    assert steps(draft.text) == ["load"]
    assert set(words.split()) <= set(draft.unused)


@pytest.mark.parametrize(
    "text",
    [
        "Make coffee and bring it to my desk.",
        "Deploy yesterday.",
        "Train a model until the universe ends.",
        "Sort a.csv in zero seconds.",
        "Sort a.csv with minus 4 cores.",
    ],
)
def test_what_no_workflow_can_do_is_said(text: str) -> None:
    draft = ask(text)

    assert draft.workflow is None
    assert draft.impossible


def test_files_that_are_named_one_by_one_are_the_items() -> None:
    found = ask("For each of the files a.csv, b.csv and c.csv count the rows.", model="offline")
    assert 'couler.map(count_rows, ["a.csv", "b.csv", "c.csv"])' in found.source
