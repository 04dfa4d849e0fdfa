"""The boundary to files: all reading is validated, and files are written completely or not at all.

Every file that difftile reads is opened here, and every defect is a `DatasetError` that names the
file and the position. A count in a file is compared with the file's size before memory is
allocated for it.
"""
