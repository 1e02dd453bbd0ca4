"""`assay view`: a read-only local web page over the stored runs."""
