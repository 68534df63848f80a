"""Who takes part in what: data sets, studies, participants, the stages of a session and its API."""
