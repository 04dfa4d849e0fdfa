"""The boundary to files: what is read is checked before it is believed, what is written is whole.

Every file that difftile reads comes through here, and whatever is wrong with one is a
`DatasetError` that names the file and the place. A count that a file claims is compared with its
size before memory is taken for it.
"""
