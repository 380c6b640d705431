module github.com/fairlead/fairlead/examples/ownengine

go 1.26.0

require github.com/fairlead/fairlead v0.0.0

replace github.com/fairlead/fairlead => ../..
