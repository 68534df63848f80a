"""Who may reach what: roles, accounts, access tokens, and sharing a study with colleagues."""
