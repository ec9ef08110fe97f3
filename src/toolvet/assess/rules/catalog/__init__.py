"""The rules, a file for each subject: each rule is a card and what it looks for, and is found by being here."""
