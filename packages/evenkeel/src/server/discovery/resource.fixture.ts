/**
 * Resources for tests of discovery and OpenAPI: complete records, of which a test sets only the relevant part.
 */
import { makeCatalog, type Resource, type ResourceStrategy } from '@evenkeel/builtins'

/** A custom resource with minimal properties. */
export function customResource(
  names: Pick<Resource, 'group' | 'version' | 'kind' | 'plural'>,
  more: Partial<Resource> = {},
): Resource {
  return {
    ...names,
    listKind: `${names.kind}List`,
    singular: names.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    scope: 'Namespaced',
    verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
    subresources: [],
    storage: { ...names },
    schema: { root: { type: 'object' }, definitions: () => undefined },
    custom: true,
    strategy: {} as ResourceStrategy,
    columns: { definitions: [], cells: () => [] },
    ...more,
  }
}

/** The built-in resources, without rules and columns. */
export function builtinCatalog(): Resource[] {
  return [
    ...makeCatalog({
      strategyFor: () => ({}) as ResourceStrategy,
      columnsFor: () => ({ definitions: [], cells: () => [] }),
    }),
  ]
}
