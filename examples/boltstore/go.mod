module github.com/fairlead/fairlead/examples/boltstore

go 1.26.0

require (
	github.com/fairlead/fairlead v0.0.0
	go.etcd.io/bbolt v1.4.3
)

require golang.org/x/sys v0.29.0 // indirect

replace github.com/fairlead/fairlead => ../..
