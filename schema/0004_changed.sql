-- Which objects each commit changed, for masters that keep a copy up to date (decisions/0050). A commit without objects
-- has one row with an empty kind, so that a gap in the numbers is seen. The oldest rows are taken out as new ones come.

CREATE TABLE changed (
    number BIGINT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (number, kind, id)
);
