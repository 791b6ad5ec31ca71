-- A store as version 1 wrote it: two runs, one of them going on, with tasks, attempts, events and a kept result.
BEGIN TRANSACTION;
CREATE TABLE attempts (
    run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, path TEXT NOT NULL, number INTEGER NOT NULL,
    execution INTEGER NOT NULL, state TEXT NOT NULL, message TEXT NOT NULL DEFAULT '', exit_code INTEGER,
    started REAL, finished REAL, folder TEXT NOT NULL, PRIMARY KEY (run, path, number, execution)
) WITHOUT ROWID;
INSERT INTO "attempts" VALUES('flow-aaaaa','a',0,0,'Succeeded','',0,1700000001.0,1700000002.0,'attempts/k/0-0');
INSERT INTO "attempts" VALUES('flow-aaaaa','map[3]/b',1,0,'Failed','exit code 1',1,1700000003.0,1700000004.0,'attempts/l/1-0');
CREATE TABLE cache (
    key TEXT PRIMARY KEY, created REAL NOT NULL, run TEXT NOT NULL, path TEXT NOT NULL, result TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "cache" VALUES('key-1',1700000002.0,'flow-aaaaa','a','{"state":"Succeeded","parameters":{"result":1},"artifacts":{},"items":null,"message":"","errored":false,"exit_code":0}');
CREATE TABLE events (
    run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, number INTEGER NOT NULL, time REAL NOT NULL,
    kind TEXT NOT NULL, path TEXT NOT NULL DEFAULT '', data TEXT NOT NULL DEFAULT '{}', PRIMARY KEY (run, number)
) WITHOUT ROWID;
INSERT INTO "events" VALUES('flow-aaaaa',1,1700000001.5,'metric','a','{"name":"loss","value":0.5,"step":1}');
INSERT INTO "events" VALUES('flow-aaaaa',2,1700000001.6,'note','a','{"text":"hello"}');
CREATE TABLE runs (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, workflow TEXT NOT NULL REFERENCES workflows(digest),
    status TEXT NOT NULL, message TEXT NOT NULL DEFAULT '', parameters TEXT NOT NULL, options TEXT NOT NULL,
    scheduled REAL NOT NULL, created REAL NOT NULL, finished REAL, seconds REAL NOT NULL DEFAULT 0,
    outputs TEXT NOT NULL DEFAULT '{}', published TEXT NOT NULL DEFAULT '{}'
) WITHOUT ROWID;
INSERT INTO "runs" VALUES('flow-aaaaa','flow','d1','Failed','','{"x":1}','{"durability":"process","grace":5.0,"config_maps":{}}',1700000000.0,1700000000.5,1700000009.5,9.0,'{"result":2}','{}');
INSERT INTO "runs" VALUES('flow-bbbbb','flow','d1','Running','','{"x":2}','{"durability":"power","grace":1.0,"config_maps":{"m":{"k":"v"}}}',1700000100.0,1700000100.0,NULL,0.0,'{}','{}');
CREATE TABLE tasks (
    run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, path TEXT NOT NULL, kind TEXT NOT NULL,
    template TEXT NOT NULL, state TEXT NOT NULL, message TEXT NOT NULL DEFAULT '', digest TEXT NOT NULL DEFAULT '',
    attempts INTEGER NOT NULL DEFAULT 0, item TEXT, item_index INTEGER, cached TEXT NOT NULL DEFAULT '',
    started REAL, finished REAL, result TEXT, PRIMARY KEY (run, path)
) WITHOUT ROWID;
INSERT INTO "tasks" VALUES('flow-aaaaa','a','function','a','Succeeded','','digest-a',1,NULL,NULL,'',1700000001.0,1700000002.0,'{"state":"Succeeded","parameters":{"result":1},"artifacts":{"f":{"kind":"file","digest":"ab12","size":3,"executable":false,"suffix":".txt"}},"items":null,"message":"","errored":false,"exit_code":0}');
INSERT INTO "tasks" VALUES('flow-aaaaa','map[3]/b','container','b','Failed','exit code 1','digest-b',2,'"item"',3,'',1700000003.0,1700000004.0,'{"state":"Failed","parameters":{},"artifacts":{},"items":null,"message":"exit code 1","errored":false,"exit_code":1}');
CREATE TABLE workflows (digest TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "workflows" VALUES('d1','{"name":"flow","entrypoint":"main","templates":[]}');
CREATE INDEX runs_by_time ON runs(created);
COMMIT;
PRAGMA user_version=1;
