"""Functions over fields as operations on arrays of others, by the addresses of these.

`Operation` knows names and types, `Plan` is an operation for arrays of certain shapes, and `Linear`
differentiates one for some of the arrays. Packages of array libraries are built on them.
"""
