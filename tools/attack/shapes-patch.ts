/**
 * Shapes of patches: JSON patch, merge patch, strategic merge patch, and server-side apply.
 *
 * Those with `before` patch a large stored object: there the size of the object multiplies the size of the patch.
 */
import {
  bodyBytesMax,
  coreKinds,
  dict,
  list,
  nested,
  scratchKinds,
  type AttackRequest,
  type DocumentShape,
} from './shape.ts'

const base = `${coreKinds}/configmaps/base?dryRun=All`
const scratch = `${scratchKinds}/configmaps/big?dryRun=All`
const json = 'application/json-patch+json'
const merge = 'application/merge-patch+json'
const strategic = 'application/strategic-merge-patch+json'
const apply = 'application/apply-patch+yaml'

function patch(path: string, type: string, body: unknown): AttackRequest {
  return { method: 'PATCH', path, type, body: JSON.stringify(body) }
}

function shape(name: string, n: number, make: DocumentShape['make']): DocumentShape {
  return { name, entry: 'patch', n, make }
}

/** A stored ConfigMap with n finalizers and annotations. */
function storedConfigMap(n: number): AttackRequest[] {
  const metadata = { name: 'big', finalizers: list(n, (i) => `a.b/${i}`) }
  const data = dict(n, (i) => [`a${i}`, 'b'])
  return created('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
}

function storedPod(spec: object): AttackRequest[] {
  return created('pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'big' }, spec })
}

/** The object `big`, made again: what an earlier size left is removed first, finalizers before everything. */
function created(resource: string, object: object): AttackRequest[] {
  const path = `${scratchKinds}/${resource}`
  return [
    patch(`${path}/big`, merge, { metadata: { finalizers: null } }),
    { method: 'DELETE', path: `${path}/big?gracePeriodSeconds=0` },
    { method: 'POST', path, body: JSON.stringify(object) },
  ]
}

const jsonPatches: readonly DocumentShape[] = [
  shape('json patch that adds', 10_000, (n) =>
    patch(
      base,
      json,
      list(n, (i) => ({ op: 'add', path: `/data/a${i}`, value: 'b' })),
    ),
  ),
  shape('json patch that fails at the end', 10_000, (n) =>
    patch(base, json, [
      ...list(n, (i) => ({ op: 'add', path: `/metadata/labels/a${i}`, value: 'b' })),
      { op: 'test', path: '/a', value: 1 },
    ]),
  ),
  shape('json patch that inserts first', 10_000, (n) =>
    patch(base, json, [
      { op: 'add', path: '/metadata/finalizers', value: [] },
      ...list(n - 1, (i) => ({ op: 'add', path: '/metadata/finalizers/0', value: `a.b/${i}` })),
    ]),
  ),
  shape('json patch that doubles by copies', 60, (n) =>
    patch(base, json, [
      { op: 'add', path: '/data', value: { a: 'b'.repeat(1000) } },
      ...list(n, (i) => ({ op: 'copy', from: '/data', path: `/data/c${i}` })),
    ]),
  ),
  shape('json patch that moves', 10_000, (n) =>
    patch(base, json, [
      { op: 'add', path: '/data', value: { a: 'b' } },
      ...list(n - 1, (i) => ({
        op: 'move',
        from: i % 2 === 0 ? '/data/a' : '/data/b',
        path: i % 2 === 0 ? '/data/b' : '/data/a',
      })),
    ]),
  ),
  shape('json patch that tests a large value', 2_000, (n) =>
    patch(base, json, [
      { op: 'add', path: '/data', value: dict(n, (i) => [`a${i}`, 'b']) },
      ...list(20, () => ({ op: 'test', path: '/data', value: dict(n, (i) => [`a${i}`, 'b']) })),
    ]),
  ),
  shape('json patch with deep paths', 1_000, (n) =>
    patch(
      base,
      json,
      list(n, () => ({ op: 'add', path: '/a~1'.repeat(500), value: 1 })),
    ),
  ),
  shape('json patch with one long path', 1_000_000, (n) =>
    patch(base, json, [{ op: 'add', path: '/a'.repeat(n / 2), value: 1 }]),
  ),
  shape('json patch with deep values', 5_000, (n) =>
    patch(
      base,
      json,
      list(n, () => ({ op: 'add', path: '/data', value: nested(80, 1) })),
    ),
  ),
  shape('json patch with bad operations', 10_000, (n) =>
    patch(
      base,
      json,
      list(n, () => ({ op: 'x' })),
    ),
  ),
]

const mergePatches: readonly DocumentShape[] = [
  shape('merge patch', 150_000, (n) => patch(base, merge, { data: dict(n, (i) => [`a${i}`, 'b']) })),
  shape('merge patch with nulls', 150_000, (n) => patch(base, merge, { data: dict(n, (i) => [`a${i}`, null]) })),
  shape('merge patch that is deep', 400_000, (n) => ({ ...patch(base, merge, 0), body: '{"a":'.repeat(n) })),
  {
    ...shape('merge patch of a large object', 40_000, (n) =>
      patch(scratch, merge, { data: dict(n, (i) => [`a${i}`, 'c']) }),
    ),
    before: (n) => storedConfigMap(n / 4),
  },
]

const strategicPatches: readonly DocumentShape[] = [
  shape('strategic patch with owners', 20_000, (n) =>
    patch(base, strategic, {
      metadata: { ownerReferences: list(n, (i) => ({ apiVersion: 'v1', kind: 'Pod', name: 'a', uid: `${i}` })) },
    }),
  ),
  shape('strategic patch with finalizers', 50_000, (n) =>
    patch(base, strategic, { metadata: { finalizers: list(n, (i) => `a.b/${i}`) } }),
  ),
  shape('strategic patch that deletes absent owners', 20_000, (n) =>
    patch(base, strategic, { metadata: { ownerReferences: list(n, (i) => ({ $patch: 'delete', uid: `${i}` })) } }),
  ),
  shape('strategic patch with an order', 50_000, (n) =>
    patch(base, strategic, {
      metadata: {
        finalizers: list(n, (i) => `a.b/${i}`),
        '$setElementOrder/finalizers': list(n, (i) => `a.b/${n - i}`),
      },
    }),
  ),
  {
    ...shape('strategic patch that deletes finalizers', 40_000, (n) =>
      patch(scratch, strategic, { metadata: { '$deleteFromPrimitiveList/finalizers': list(n, (i) => `a.b/${i}`) } }),
    ),
    before: (n) => storedConfigMap(n / 4),
  },
  {
    ...shape('strategic patch of stored containers', 8_000, (n) =>
      patch(`${scratchKinds}/pods/big?dryRun=All`, strategic, {
        spec: {
          '$setElementOrder/containers': list(n, (i) => ({ name: `c${i}` })),
          containers: list(n, (i) => ({ name: `c${i}`, image: 'y' })),
        },
      }),
    ),
    before: (n) => storedPod({ containers: list(n, (i) => ({ name: `c${i}`, image: 'x' })) }),
  },
  {
    ...shape('merge patch of stored tolerations', 12_000, (n) =>
      patch(`${scratchKinds}/pods/big?dryRun=All`, merge, {
        spec: { tolerations: tolerations(n).map((one) => ({ ...one, tolerationSeconds: 5 })) },
      }),
    ),
    before: (n) => storedPod({ containers: [{ name: 'c', image: 'x' }], tolerations: tolerations(n) }),
  },
]

function tolerations(n: number): object[] {
  return list(n, (i) => ({ key: `k${i}`, operator: 'Exists', effect: 'NoExecute' }))
}

function applied(path: string, object: object, query = ''): AttackRequest {
  return patch(`${path}?dryRun=All&fieldManager=a${query}`, apply, { apiVersion: 'v1', ...object })
}

function configuration(metadata: object, more: object = {}): AttackRequest {
  return applied(`${coreKinds}/configmaps/ssa`, { kind: 'ConfigMap', metadata: { name: 'ssa', ...metadata }, ...more })
}

function podConfiguration(spec: object): AttackRequest {
  return applied(`${coreKinds}/pods/ssa`, { kind: 'Pod', metadata: { name: 'ssa' }, spec })
}

/** An apply that takes every value from another manager. */
function conflicts(n: number, query = ''): AttackRequest {
  const data = dict(n, (i) => [`a${i}`, 'c'])
  return applied(`${scratchKinds}/configmaps/big`, { kind: 'ConfigMap', metadata: { name: 'big' }, data }, query)
}

function applyShape(name: string, n: number, make: DocumentShape['make']): DocumentShape {
  return { name: `apply ${name}`, entry: 'apply', n, make }
}

export const applyShapes: readonly DocumentShape[] = [
  applyShape('data', 60_000, (n) => configuration({}, { data: dict(n, (i) => [`a${i}`, 'b']) })),
  applyShape('labels', 60_000, (n) => configuration({ labels: dict(n, (i) => [`a${i}`, 'b']) })),
  applyShape('finalizers', 50_000, (n) => configuration({ finalizers: list(n, (i) => `a.b/${i}`) })),
  applyShape('finalizers that repeat', 50_000, (n) => configuration({ finalizers: list(n, () => 'a.b/c') })),
  applyShape('owner references', 20_000, (n) =>
    configuration({ ownerReferences: list(n, (i) => ({ apiVersion: 'v1', kind: 'Pod', name: 'a', uid: `${i}` })) }),
  ),
  applyShape('containers', 10_000, (n) =>
    podConfiguration({ containers: list(n, (i) => ({ name: `c${i}`, image: 'x' })) }),
  ),
  applyShape('ports', 20_000, (n) =>
    podConfiguration({
      containers: [{ name: 'c', image: 'x', ports: list(n, (i) => ({ containerPort: i + 1, protocol: 'TCP' })) }],
    }),
  ),
  applyShape('ports that repeat', 20_000, (n) =>
    podConfiguration({
      containers: [{ name: 'c', image: 'x', ports: list(n, () => ({ containerPort: 1, protocol: 'TCP' })) }],
    }),
  ),
  applyShape('unknown fields', 60_000, (n) =>
    configuration(
      {},
      dict(n, (i) => [`u${i}`, 1]),
    ),
  ),
  applyShape('one long text', bodyBytesMax / 2, (n) => configuration({}, { data: { a: 'b'.repeat(n) } })),
  { ...applyShape('with conflicts', 20_000, (n) => conflicts(n)), before: (n) => storedConfigMap(n / 2) },
  { ...applyShape('by force', 20_000, (n) => conflicts(n, '&force=true')), before: (n) => storedConfigMap(n / 2) },
]

export const patchShapes: readonly DocumentShape[] = [...jsonPatches, ...mergePatches, ...strategicPatches]
