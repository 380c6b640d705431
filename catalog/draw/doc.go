// Package draw draws the updates that a package of a catalog offers: [SVG] as an
// image, [Mermaid] for Markdown pages, [DOT] for Graphviz. Equal catalogs give
// equal pictures.
package draw
