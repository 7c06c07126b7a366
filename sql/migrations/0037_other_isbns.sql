-- One function of functions.sql, other_isbns, has taken the place of these.
drop function if exists isbn10_of(text), isbn13_of(text);
