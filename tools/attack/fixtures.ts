/**
 * What the attacked server has before the first shape: users with their rights, custom kinds, and a few objects.
 *
 * `mallory` may write what an ordinary tenant may write and is no administrator; `polite` may only read.
 */
import { list, nested, type AttackRequest, type AttackUser } from './shape.ts'

export const tokens: Readonly<Record<Exclude<AttackUser, 'admin'>, string>> = {
  mallory: 'mallory-0123456789',
  polite: 'polite-0123456789',
}

/** The users of a siege; they have the rights of `mallory`. */
export const hostileTokens: readonly string[] = list(24, (index) => `hostile-${index}-0123456789`)
export const hostileGroup = 'hostile'

const group = 'x.dev'

/** A CRD of the group `x.dev`; `more` are further fields of its version. */
export function crd(plural: string, spec: object, more: object = {}): object {
  const kind = kindOf(plural)
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: plural, kind, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema, ...more }],
    },
  }
}

export function kindOf(plural: string): string {
  return `${plural.slice(0, 1).toUpperCase()}${plural.slice(1)}`
}

const text = { type: 'string' }
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
/** The formats that custom kinds may name. */
export const formats = [
  'date-time',
  'date',
  'duration',
  'email',
  'uri',
  'hostname',
  'ipv4',
  'ipv6',
  'cidr',
  'mac',
  'uuid',
  'byte',
  'isbn',
  'creditcard',
  'hexcolor',
  'rgbcolor',
  'bsonobjectid',
] as const

const plain = {
  type: 'object',
  properties: {
    m: { type: 'object', additionalProperties: text },
    l: { type: 'array', items: text },
    e: { type: 'string', enum: ['a'] },
    n: { type: 'integer', minimum: 1 },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
    objects: { type: 'array', 'x-kubernetes-list-type': 'set', items: { ...open, 'x-kubernetes-map-type': 'atomic' } },
    map: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k', 'p'],
      items: {
        type: 'object',
        required: ['k', 'p'],
        properties: { k: text, p: { type: 'integer', default: 1 }, v: text },
      },
    },
  },
}

const formatted = {
  type: 'object',
  properties: Object.fromEntries(formats.map((format) => [format.replace('-', ''), { type: 'string', format }])),
}

/** Alternatives: each level doubles what a validator evaluates. */
const alternatives = {
  ...open,
  properties: { v: { type: 'integer' } },
  ...(nested(8, { properties: { v: { minimum: 10 } } }, (inner) => ({ anyOf: [inner, inner] })) as object),
}

const ruled = {
  type: 'object',
  properties: {
    l: { type: 'array', maxItems: 200, items: { type: 'integer' } },
    s: { type: 'string', maxLength: 100_000 },
    t: { type: 'array', maxItems: 2_000, items: { type: 'string', maxLength: 20 } },
  },
  'x-kubernetes-validations': [
    { rule: '!has(self.l) || self.l.all(x, self.l.exists(y, y <= x))' },
    { rule: "!has(self.s) || !self.s.contains('b')" },
    { rule: "!has(self.t) || self.t.all(x, x.startsWith('a'))" },
  ],
}

const columns = list(50, (index) => ({ name: `c${index}`, type: 'string', jsonPath: '.spec..a..b..c' }))
/** A text of a default that multiplies in the items of a list. */
const large = 'x'.repeat(10_000)
const defaulted = { type: 'object', properties: { d: { type: 'string', default: large } } }

export const crds: readonly object[] = [
  crd('defs', {
    type: 'object',
    properties: { l: { type: 'array', items: defaulted }, m: { type: 'object', additionalProperties: defaulted } },
  }),
  crd('pats', {
    type: 'object',
    properties: {
      p: { type: 'string', pattern: '(a{1,50}){1,20}$' },
      q: { type: 'array', items: { type: 'string', pattern: '^(a|aa)+$' } },
    },
  }),
  crd('trees', open, { additionalPrinterColumns: columns }),
  crd('plains', plain),
  crd('forms', formatted),
  crd('alts', alternatives),
  crd('rules', ruled),
]

const configMap = (namespace: string, name: string, more: object): AttackRequest => ({
  method: 'POST',
  path: `/api/v1/namespaces/${namespace}/configmaps`,
  body: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...more }),
})

/** A tree that is 300 deep, for the columns of its kind. */
const tree: AttackRequest = {
  method: 'POST',
  path: `/apis/${group}/v1/namespaces/default/trees`,
  body: JSON.stringify({
    apiVersion: `${group}/v1`,
    kind: 'Trees',
    metadata: { name: 't' },
    spec: nested(300, { c: 1 }, (inner) => ({ a: inner, b: {} })),
  }),
}

const rights = [
  {
    apiGroups: ['', 'apps', 'batch', group, 'networking.k8s.io', 'discovery.k8s.io'],
    resources: ['*'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
  },
  { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['create'] },
]

function grant(user: string, rules: readonly object[], subject = 'User'): AttackRequest[] {
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const apiGroup = 'rbac.authorization.k8s.io'
  const role = { apiVersion, kind: 'ClusterRole', metadata: { name: user }, rules }
  const binding = {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name: user },
    subjects: [{ kind: subject, apiGroup, name: user }],
    roleRef: { apiGroup, kind: 'ClusterRole', name: user },
  }
  return [
    { method: 'POST', path: `/apis/${apiVersion}/clusterroles`, body: JSON.stringify(role) },
    { method: 'POST', path: `/apis/${apiVersion}/clusterrolebindings`, body: JSON.stringify(binding) },
  ]
}

/** The requests that an administrator sends at the start, in order. */
export const fixtures: readonly AttackRequest[] = [
  ...grant('mallory', rights),
  ...grant(hostileGroup, rights, 'Group'),
  ...grant('polite', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'create', 'update'] }]),
  {
    method: 'POST',
    path: '/api/v1/namespaces',
    body: JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'scratch' } }),
  },
  {
    method: 'POST',
    path: '/api/v1/namespaces/scratch/resourcequotas',
    body: JSON.stringify({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'objects' },
      spec: { hard: { 'count/configmaps': '200' } },
    }),
  },
  ...crds.map((body) => ({
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    body: JSON.stringify(body),
  })),
  configMap('default', 'base', {}),
  configMap('default', 'small', { data: { a: 'b' } }),
  tree,
  ...list(300, (index) =>
    configMap('default', `many-${index}`, { metadata: { name: `many-${index}`, labels: { a: `${index}` } } }),
  ),
]

/** Collections that shapes may fill, emptied after each that does. */
export const scratchCollections: readonly string[] = [
  '/api/v1/namespaces/scratch/configmaps',
  '/api/v1/namespaces/scratch/pods?gracePeriodSeconds=0',
  `/apis/${group}/v1/namespaces/scratch/trees`,
  `/apis/${group}/v1/namespaces/scratch/plains`,
]
