// Package template expands catalog templates: short descriptions of a catalog
// that name bundles by their images, into the documents of the catalog.
//
// [Parse] reads a template; [Template.Render] expands it, and asks the caller's
// [Renderer] for every bundle that the template names. The renderer decides what a
// reference means and where images come from: a registry, a directory of bundles
// (package catalog/bundle renders those), or an older catalog.
//
// The schema tells three kinds of templates apart:
//
//   - olm.template.basic: a catalog whose bundles may be given by schema and
//     image alone.
//   - olm.semver: lists of bundles for candidate, fast and stable, from whose
//     versions channels and updates follow.
//   - olm.template.substitutes: a catalog, and bundles to take the place of
//     others in its channels.
//
// All errors in a template are reported at once, with line and column. Where the
// reference tool has bugs, this package is not compatible with it;
// docs/compatibility/catalog.md has the list.
package template
