"""What the desk's pages share: the page itself, filter links, figure files and wording."""
