/**
 * Shapes of queries: label and field selectors, long query strings, continue tokens, and tables.
 *
 * A request line has at most 16 KiB, so `n` is small here; what multiplies is the number of stored objects.
 */
import { coreKinds, list, nested, type AttackRequest, type DocumentShape } from './shape.ts'

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'

function shape(name: string, n: number, query: (n: number) => string): DocumentShape {
  const make = (size: number): AttackRequest => ({ method: 'GET', path: `${coreKinds}/configmaps?${query(size)}` })
  return { name: `selector ${name}`, entry: 'selector', n, make }
}

function joined(n: number, make: (index: number) => string): string {
  return list(n, make).join(',')
}

export const selectorShapes: readonly DocumentShape[] = [
  shape('of keys', 2_500, (n) => `labelSelector=${joined(n, (i) => `a${i}`)}`),
  shape('of absent keys', 2_500, (n) => `labelSelector=${joined(n, (i) => `!b${i}`)}`),
  shape('of one key', 2_500, (n) => `labelSelector=${joined(n, () => 'a!=b')}`),
  shape('of values', 2_500, (n) => `labelSelector=a+in+(${joined(n, (i) => `a${i}`)})`),
  shape('of other values', 2_500, (n) => `labelSelector=a+notin+(${joined(n, (i) => `a${i}`)})`),
  shape('of lists of values', 800, (n) => `labelSelector=${joined(n, () => 'a+notin+(b,c)')}`),
  shape('that is bad', 8_000, (n) => `labelSelector=${'('.repeat(n)}`),
  shape('with spaces', 15_000, (n) => `labelSelector=${'+'.repeat(n)}a`),
  shape('with commas', 15_000, (n) => `labelSelector=${','.repeat(n)}`),
  shape('in percents', 5_000, (n) => `labelSelector=${'%61'.repeat(n)}`),
  shape('with a long key', 15_000, (n) => `labelSelector=${'a.'.repeat(n / 2)}/a=b`),
  shape('of fields', 700, (n) => `fieldSelector=${joined(n, (i) => `metadata.name!=${i}`)}`),
  shape('of an unknown field', 7_000, (n) => `fieldSelector=${'a.'.repeat(n)}=b`),
  shape('with escapes', 7_000, (n) => `fieldSelector=metadata.name=${'%5C%5C'.repeat(n / 3)}`),
  shape('in a long query', 2_500, (n) => list(n, (i) => `a${i}`).join('&')),
  shape('in a query that repeats', 1_000, (n) => list(n, () => 'labelSelector=a').join('&')),
  shape('with a long continue token', 15_000, (n) => `limit=1&continue=${'A'.repeat(n)}`),
  shape('with digits', 15_000, (n) => `resourceVersion=${'9'.repeat(n)}&limit=${'9'.repeat(9)}`),
]

/** Trees in which a column that descends everywhere finds much. */
function storedTrees(n: number): AttackRequest[] {
  const path = '/apis/x.dev/v1/namespaces/scratch/trees'
  const spec = nested(n, { c: 1 }, (inner) => ({ a: inner, b: {} }))
  const body = JSON.stringify({ apiVersion: 'x.dev/v1', kind: 'Trees', metadata: { name: 'big' }, spec })
  return [
    { method: 'DELETE', path: `${path}/big` },
    { method: 'POST', path, body },
  ]
}

/** A tree in which both names occur on every level. */
function storedBranches(n: number): AttackRequest[] {
  const path = '/apis/x.dev/v1/namespaces/scratch/trees'
  const spec = nested(n, { c: 1 }, (inner) => ({ a: { b: inner } }))
  const body = JSON.stringify({ apiVersion: 'x.dev/v1', kind: 'Trees', metadata: { name: 'big' }, spec })
  return [
    { method: 'DELETE', path: `${path}/big` },
    { method: 'POST', path, body },
  ]
}

export const tableShapes: readonly DocumentShape[] = [
  {
    name: 'table of a deep tree',
    entry: 'table',
    n: 300,
    before: storedTrees,
    make: () => ({ method: 'GET', path: '/apis/x.dev/v1/namespaces/scratch/trees', accept: table }),
  },
  {
    name: 'table of a tree with branches',
    entry: 'table',
    n: 100,
    before: storedBranches,
    make: () => ({ method: 'GET', path: '/apis/x.dev/v1/namespaces/scratch/trees', accept: table }),
  },
  {
    name: 'table of many objects',
    entry: 'table',
    n: 300,
    make: (n) => ({ method: 'GET', path: `${coreKinds}/configmaps?limit=${n}&includeObject=Object`, accept: table }),
  },
  {
    name: 'table for a long accept header',
    entry: 'table',
    n: 1_500,
    make: (n) => ({
      method: 'GET',
      path: `${coreKinds}/configmaps?limit=1`,
      accept: joined(n, () => `${table};q=0.1`),
    }),
  },
]
