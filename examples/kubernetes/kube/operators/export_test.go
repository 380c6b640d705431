package operators

// RetryCatalog is how long a catalog that could not be read is left alone.
const RetryCatalog = retryCatalog
