"""Judge millions of rows: Parquet, JSONL or CSV in, the verdict on each row out."""
