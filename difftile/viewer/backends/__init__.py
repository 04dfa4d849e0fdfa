"""Windows, pages and files that show what an app draws; only these modules import GUI libraries."""
