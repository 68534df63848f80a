"""What the desk's pages share: the page itself, filter links and figure files."""
