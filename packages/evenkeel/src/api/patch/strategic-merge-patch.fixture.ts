/**
 * Cases of strategic merge patches on a small kind that looks like a Pod, and its schema.
 *
 * Names, merge keys and strategies are those of the real Pod, so the table can be held against a real server.
 */
import type { JsonObject } from '@evenkeel/cel/primitives'
import type { Schema, SchemaNode } from '../schema/schema.ts'

const string: SchemaNode = { type: 'string' }
const number: SchemaNode = { type: 'integer' }
const stringMap: SchemaNode = { type: 'object', additionalProperties: string }
const strings: SchemaNode = { type: 'array', items: string }
const wrapped = (name: string): SchemaNode => ({ allOf: [{ $ref: name }], default: {} })
const object = (properties: Record<string, SchemaNode>): SchemaNode => ({ type: 'object', properties })
const merged = (name: string, mergeKey: string, strategy = 'merge'): SchemaNode => ({
  type: 'array',
  items: wrapped(name),
  'x-kubernetes-patch-merge-key': mergeKey,
  'x-kubernetes-patch-strategy': strategy,
})

const nodes: Record<string, SchemaNode> = {
  'v1.Pod': object({
    metadata: wrapped('v1.ObjectMeta'),
    spec: wrapped('v1.PodSpec'),
    status: wrapped('v1.PodStatus'),
  }),
  'v1.ObjectMeta': object({
    name: string,
    labels: stringMap,
    annotations: stringMap,
    finalizers: { ...strings, 'x-kubernetes-patch-strategy': 'merge' },
    ownerReferences: merged('v1.OwnerReference', 'uid'),
  }),
  'v1.OwnerReference': object({ uid: string, name: string }),
  'v1.PodSpec': object({
    containers: merged('v1.Container', 'name'),
    volumes: merged('v1.Volume', 'name', 'merge,retainKeys'),
    tolerations: { type: 'array', items: wrapped('v1.Toleration') },
    nodeSelector: stringMap,
    imagePullSecrets: merged('v1.LocalObjectReference', 'name'),
    hostAliases: merged('v1.HostAlias', 'ip'),
    terminationGracePeriodSeconds: number,
    securityContext: wrapped('v1.PodSecurityContext'),
  }),
  'v1.Container': object({
    name: string,
    image: string,
    args: strings,
    env: merged('v1.EnvVar', 'name'),
    ports: merged('v1.ContainerPort', 'containerPort'),
    resources: wrapped('v1.Resources'),
  }),
  'v1.EnvVar': object({ name: string, value: string, valueFrom: wrapped('v1.EnvVarSource') }),
  'v1.EnvVarSource': object({
    fieldRef: object({ fieldPath: string }),
    secretKeyRef: object({ key: string, name: string }),
  }),
  'v1.ContainerPort': object({ containerPort: number, protocol: string, name: string }),
  'v1.Resources': object({ limits: stringMap, requests: stringMap }),
  'v1.Volume': object({
    name: string,
    emptyDir: object({ medium: string, sizeLimit: string }),
    hostPath: object({ path: string, type: string }),
  }),
  'v1.Toleration': object({ key: string, value: string }),
  'v1.LocalObjectReference': object({ name: string }),
  'v1.HostAlias': object({ ip: string, hostnames: strings }),
  'v1.PodSecurityContext': object({ runAsUser: number, supplementalGroups: { type: 'array', items: number } }),
  'v1.PodStatus': object({ conditions: merged('v1.Condition', 'type'), phase: string }),
  'v1.Condition': object({ type: string, status: string }),
}

export const podSchema: Schema = { root: { $ref: 'v1.Pod' }, definitions: (name) => nodes[name] }

const containers = (...items: JsonObject[]): JsonObject => ({ spec: { containers: items } })
const volumes = (...items: JsonObject[]): JsonObject => ({ spec: { volumes: items } })
const metadata = (fields: JsonObject): JsonObject => ({ metadata: fields })
const spec = (fields: JsonObject): JsonObject => ({ spec: fields })
const named = (...names: string[]): JsonObject[] => names.map((name) => ({ name }))
const [a, b, c] = [
  { name: 'a', image: '1' },
  { name: 'b', image: '1' },
  { name: 'c', image: '1' },
]

/** [what, object, patch, object afterwards] */
export const works: [string, JsonObject, JsonObject, JsonObject][] = [
  ['nothing', containers(a), {}, containers(a)],
  [
    'a scalar is set',
    spec({ terminationGracePeriodSeconds: 1 }),
    spec({ terminationGracePeriodSeconds: 2 }),
    spec({ terminationGracePeriodSeconds: 2 }),
  ],
  [
    'a scalar is added',
    spec({}),
    spec({ terminationGracePeriodSeconds: 2 }),
    spec({ terminationGracePeriodSeconds: 2 }),
  ],
  [
    'null deletes',
    metadata({ name: 'x', labels: { a: '1', b: '2' } }),
    metadata({ labels: { a: null } }),
    metadata({ name: 'x', labels: { b: '2' } }),
  ],
  [
    'null deletes an object',
    metadata({ name: 'x', labels: { a: '1' } }),
    metadata({ labels: null }),
    metadata({ name: 'x' }),
  ],
  [
    'null for what is not there',
    metadata({ name: 'x' }),
    metadata({ labels: null, finalizers: null }),
    metadata({ name: 'x' }),
  ],
  [
    'maps are merged',
    metadata({ labels: { a: '1' } }),
    metadata({ labels: { b: '2' } }),
    metadata({ labels: { a: '1', b: '2' } }),
  ],
  [
    'a new map loses its nulls',
    metadata({}),
    metadata({ labels: { a: '1', b: null } }),
    metadata({ labels: { a: '1' } }),
  ],
  [
    'a new object loses its nulls at any depth',
    {},
    spec({ containers: [{ name: 'a', image: null, resources: { limits: { cpu: null } } }] }),
    containers({ name: 'a', resources: { limits: {} } }),
  ],
  [
    'another type replaces',
    spec({ nodeSelector: { a: '1' } }),
    spec({ nodeSelector: 'x' }),
    spec({ nodeSelector: 'x' }),
  ],
  [
    'keys of Object.prototype are keys',
    metadata({ labels: { constructor: '1' } }),
    metadata({ labels: { toString: '2' } }),
    metadata({ labels: { constructor: '1', toString: '2' } }),
  ],

  [
    'an item is merged by its key',
    containers(a, b),
    containers({ name: 'b', image: '2' }),
    containers(a, { name: 'b', image: '2' }),
  ],
  [
    'an item gets a new field',
    containers(a),
    containers({ name: 'a', args: ['x'] }),
    containers({ name: 'a', image: '1', args: ['x'] }),
  ],
  ['an item loses a field', containers(a), containers({ name: 'a', image: null }), containers({ name: 'a' })],
  ['a new item comes before what the patch does not name', containers(a, b), containers(c), containers(c, a, b)],
  [
    'the order of the patch wins for what it names',
    containers(a, b, c),
    containers({ name: 'c' }, { name: 'a' }),
    containers(b, c, a),
  ],
  ['a new item among known ones', containers(a, b), containers({ name: 'a' }, c, { name: 'b' }), containers(a, c, b)],
  [
    'a new item keeps its nulls and directives: pruning is another step',
    containers(a),
    containers({ name: 'z', image: null }),
    containers({ name: 'z', image: null }, a),
  ],
  [
    'the same item twice',
    containers(a),
    containers({ name: 'a', image: '2' }, { name: 'a', args: ['x'] }),
    containers({ name: 'a', image: '2', args: ['x'] }),
  ],
  [
    'a new item twice',
    containers(a),
    containers({ name: 'z', image: '2' }, { name: 'z', args: ['x'] }),
    containers({ name: 'z', image: '2', args: ['x'] }, a),
  ],
  ['a whole list is new', {}, containers(a, b), containers(a, b)],
  ['an empty patch list changes nothing', containers(a), spec({ containers: [] }), containers(a)],
  ['two empty lists', spec({ containers: [] }), spec({ containers: [] }), spec({ containers: [] })],
  ['into an empty list', spec({ containers: [] }), containers(a), containers(a)],
  [
    'merge keys are numbers too',
    containers({ name: 'a', ports: [{ containerPort: 80 }, { containerPort: 81 }] }),
    containers({ name: 'a', ports: [{ containerPort: 81, protocol: 'UDP' }] }),
    containers({ name: 'a', ports: [{ containerPort: 80 }, { containerPort: 81, protocol: 'UDP' }] }),
  ],
  [
    'a number and a text are two keys',
    containers({ name: 'a', ports: [{ containerPort: 80 }] }),
    containers({ name: 'a', ports: [{ containerPort: '80' }] }),
    containers({ name: 'a', ports: [{ containerPort: '80' }, { containerPort: 80 }] }),
  ],
  [
    'ports share a number: the first is merged',
    containers({
      name: 'a',
      ports: [
        { containerPort: 53, protocol: 'TCP' },
        { containerPort: 53, protocol: 'UDP' },
      ],
    }),
    containers({ name: 'a', ports: [{ containerPort: 53, name: 'dns' }] }),
    containers({
      name: 'a',
      ports: [
        { containerPort: 53, protocol: 'TCP', name: 'dns' },
        { containerPort: 53, protocol: 'UDP' },
      ],
    }),
  ],
  [
    'lists in lists',
    containers({
      name: 'a',
      env: [
        { name: 'X', value: '1' },
        { name: 'Y', value: '1' },
      ],
    }),
    containers({ name: 'a', env: [{ name: 'Y', value: '2' }] }),
    containers({
      name: 'a',
      env: [
        { name: 'X', value: '1' },
        { name: 'Y', value: '2' },
      ],
    }),
  ],
  [
    'objects in lists in lists',
    containers({ name: 'a', env: [{ name: 'X', valueFrom: { fieldRef: { fieldPath: 'p' } } }] }),
    containers({ name: 'a', env: [{ name: 'X', valueFrom: { fieldRef: null, secretKeyRef: { key: 'k' } } }] }),
    containers({ name: 'a', env: [{ name: 'X', valueFrom: { secretKeyRef: { key: 'k' } } }] }),
  ],
  [
    'a list without a strategy is replaced',
    spec({ tolerations: [{ key: 'a' }] }),
    spec({ tolerations: [{ key: 'b', value: null }] }),
    spec({ tolerations: [{ key: 'b', value: null }] }),
  ],
  [
    'a list of texts without a strategy is replaced',
    containers({ name: 'a', args: ['x', 'y'] }),
    containers({ name: 'a', args: ['z'] }),
    containers({ name: 'a', args: ['z'] }),
  ],
  [
    'conditions by type',
    { status: { conditions: [{ type: 'Ready', status: 'False' }] } },
    {
      status: {
        conditions: [
          { type: 'Ready', status: 'True' },
          { type: 'Other', status: 'True' },
        ],
      },
    },
    {
      status: {
        conditions: [
          { type: 'Ready', status: 'True' },
          { type: 'Other', status: 'True' },
        ],
      },
    },
  ],

  [
    'scalars are a set',
    metadata({ finalizers: ['a', 'b'] }),
    metadata({ finalizers: ['b', 'c'] }),
    metadata({ finalizers: ['a', 'b', 'c'] }),
  ],
  [
    'a new scalar comes first',
    metadata({ finalizers: ['a'] }),
    metadata({ finalizers: ['z'] }),
    metadata({ finalizers: ['z', 'a'] }),
  ],
  [
    'scalars twice',
    metadata({ finalizers: ['a', 'a'] }),
    metadata({ finalizers: ['b', 'b'] }),
    metadata({ finalizers: ['b', 'a'] }),
  ],
  [
    'scalars are taken out',
    metadata({ finalizers: ['a', 'b', 'c'] }),
    metadata({ '$deleteFromPrimitiveList/finalizers': ['b', 'z'] }),
    metadata({ finalizers: ['a', 'c'] }),
  ],
  [
    'scalars are taken out and added',
    metadata({ finalizers: ['a', 'b'] }),
    metadata({ finalizers: ['c'], '$deleteFromPrimitiveList/finalizers': ['a'] }),
    metadata({ finalizers: ['c', 'b'] }),
  ],
  [
    'the last scalar leaves an empty list',
    metadata({ finalizers: ['a'] }),
    metadata({ '$deleteFromPrimitiveList/finalizers': ['a'] }),
    metadata({ finalizers: [] }),
  ],
  ['nothing to take out of', metadata({}), metadata({ '$deleteFromPrimitiveList/finalizers': ['a'] }), metadata({})],
  [
    'taking out works without a strategy',
    containers({ name: 'a', args: ['x', 'y'] }),
    containers({ name: 'a', '$deleteFromPrimitiveList/args': ['x'] }),
    containers({ name: 'a', args: ['y'] }),
  ],
  [
    'taking out null takes all',
    metadata({ finalizers: ['a'] }),
    metadata({ '$deleteFromPrimitiveList/finalizers': null }),
    metadata({}),
  ],

  ['$patch: delete takes an item', containers(a, b, c), containers({ name: 'b', $patch: 'delete' }), containers(a, c)],
  [
    '$patch: delete takes every item of the key',
    containers({
      name: 'x',
      ports: [{ containerPort: 53, protocol: 'TCP' }, { containerPort: 53, protocol: 'UDP' }, { containerPort: 80 }],
    }),
    containers({ name: 'x', ports: [{ containerPort: 53, $patch: 'delete' }] }),
    containers({ name: 'x', ports: [{ containerPort: 80 }] }),
  ],
  ['$patch: delete of what is not there', containers(a), containers({ name: 'z', $patch: 'delete' }), containers(a)],
  [
    '$patch: delete and others',
    containers(a, b),
    containers({ name: 'a', $patch: 'delete' }, { name: 'b', image: '2' }, c),
    containers({ name: 'b', image: '2' }, c),
  ],
  ['$patch: delete in a new list is dropped', {}, containers({ name: 'a', $patch: 'delete' }, b), containers(b)],
  [
    '$patch: delete empties an object',
    spec({ nodeSelector: { a: '1' } }),
    spec({ nodeSelector: { $patch: 'delete' } }),
    spec({ nodeSelector: {} }),
  ],
  ['$patch: delete for an object that is not there', spec({}), spec({ nodeSelector: { $patch: 'delete' } }), spec({})],
  [
    '$patch: replace of an object',
    metadata({ labels: { a: '1', b: '2' } }),
    metadata({ labels: { $patch: 'replace', c: '3' } }),
    metadata({ labels: { c: '3' } }),
  ],
  ['$patch: replace of the whole', metadata({ name: 'x' }), { $patch: 'replace', spec: {} }, spec({})],
  ['$patch: replace of a list', containers(a, b), containers(c, { $patch: 'replace' }), containers(c)],
  ['$patch: replace of a list, first', containers(a, b), containers({ $patch: 'replace' }, c, a), containers(c, a)],
  ['$patch: replace by nothing', containers(a, b), containers({ $patch: 'replace' }), spec({ containers: [] })],

  [
    '$retainKeys drops what it does not list',
    volumes({ name: 'v', emptyDir: { medium: 'Memory' } }),
    volumes({ name: 'v', hostPath: { path: '/x' }, $retainKeys: ['name', 'hostPath'] }),
    volumes({ name: 'v', hostPath: { path: '/x' } }),
  ],
  [
    '$retainKeys merges what it lists',
    volumes({ name: 'v', emptyDir: { medium: 'Memory' } }),
    volumes({ name: 'v', emptyDir: { sizeLimit: '1' }, $retainKeys: ['name', 'emptyDir'] }),
    volumes({ name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '1' } }),
  ],
  [
    '$retainKeys beside a null',
    volumes({ name: 'v', emptyDir: {} }),
    volumes({ name: 'v', emptyDir: null, hostPath: { path: '/' }, $retainKeys: ['name', 'hostPath'] }),
    volumes({ name: 'v', hostPath: { path: '/' } }),
  ],
  [
    '$retainKeys in any object',
    spec({ nodeSelector: { a: '1', b: '2' } }),
    spec({ nodeSelector: { $retainKeys: ['b'] } }),
    spec({ nodeSelector: { b: '2' } }),
  ],

  [
    '$setElementOrder reorders',
    containers(a, b, c),
    spec({ '$setElementOrder/containers': named('c', 'a', 'b') }),
    containers(c, a, b),
  ],
  [
    '$setElementOrder of some: the others keep their place',
    containers(a, b, c),
    spec({ '$setElementOrder/containers': named('c', 'b') }),
    containers(a, c, b),
  ],
  [
    '$setElementOrder with a new item',
    containers(a, b),
    spec({ '$setElementOrder/containers': named('a', 'c', 'b'), containers: [c] }),
    containers(a, c, b),
  ],
  [
    'an empty $setElementOrder with a new item: it comes last',
    containers(a, b),
    spec({ '$setElementOrder/containers': [], containers: [c] }),
    containers(a, b, c),
  ],
  [
    '$setElementOrder with a change',
    containers(a, b),
    spec({ '$setElementOrder/containers': named('b', 'a'), containers: [{ name: 'a', image: '2' }] }),
    containers(b, { name: 'a', image: '2' }),
  ],
  [
    '$setElementOrder with a deletion',
    containers(a, b, c),
    spec({ '$setElementOrder/containers': named('c', 'a'), containers: [{ name: 'b', $patch: 'delete' }] }),
    containers(c, a),
  ],
  [
    '$setElementOrder with an item that replaces another',
    containers(a, b),
    spec({ '$setElementOrder/containers': named('c'), containers: [c, { name: 'a', $patch: 'delete' }] }),
    containers(b, c),
  ],
  [
    '$setElementOrder keeps what only the server has',
    containers(a, b, c),
    spec({ '$setElementOrder/containers': named('a', 'c'), containers: [{ name: 'c', image: '2' }] }),
    containers(a, b, { name: 'c', image: '2' }),
  ],
  [
    '$setElementOrder of a new list',
    {},
    spec({ '$setElementOrder/containers': named('b', 'a'), containers: [b, a] }),
    spec({ '$setElementOrder/containers': named('b', 'a'), containers: [b, a] }),
  ],
  [
    '$setElementOrder of a list that is new in a known object',
    spec({}),
    spec({ '$setElementOrder/containers': named('b', 'a'), containers: [b, a] }),
    containers(b, a),
  ],
  [
    '$setElementOrder of a list that is nowhere',
    spec({}),
    spec({ '$setElementOrder/containers': named('a') }),
    spec({}),
  ],
  [
    '$setElementOrder of scalars',
    metadata({ finalizers: ['a', 'b', 'c'] }),
    metadata({ '$setElementOrder/finalizers': ['c', 'a'] }),
    metadata({ finalizers: ['b', 'c', 'a'] }),
  ],
  [
    '$setElementOrder of scalars, one new, one out',
    metadata({ finalizers: ['a', 'b', 'c'] }),
    metadata({
      '$setElementOrder/finalizers': ['z', 'c', 'a'],
      finalizers: ['z'],
      '$deleteFromPrimitiveList/finalizers': ['b'],
    }),
    metadata({ finalizers: ['z', 'c', 'a'] }),
  ],
  [
    'an empty $setElementOrder',
    containers(a, b),
    spec({ '$setElementOrder/containers': [], containers: [{ name: 'b', image: '2' }] }),
    containers(a, { name: 'b', image: '2' }),
  ],
]

/** [what, object, patch, what the message must say, the reason] */
export const fails: [string, JsonObject, JsonObject, string, 'BadRequest' | 'Invalid'][] = [
  ['an unknown directive', containers(a), spec({ $patch: 'explode' }), 'unknown patch type: explode', 'Invalid'],
  ['$patch: merge in an object', containers(a), spec({ $patch: 'merge' }), 'unknown patch type: merge', 'Invalid'],
  ['$patch that is no text', containers(a), spec({ $patch: null }), 'unknown patch type: nil', 'Invalid'],
  [
    '$patch: merge in a list',
    containers(a),
    containers({ name: 'a', $patch: 'merge' }),
    'merging lists cannot yet be specified in the patch',
    'Invalid',
  ],
  [
    'an unknown directive in a list',
    containers(a),
    containers({ name: 'a', $patch: 'x' }),
    'unknown patch type: x',
    'Invalid',
  ],
  [
    'an item without its key',
    containers(a),
    containers({ image: '2' }),
    'does not contain declared merge key: name',
    'Invalid',
  ],
  [
    'a deletion without its key',
    containers(a),
    containers({ $patch: 'delete' }),
    'does not contain declared merge key: name',
    'Invalid',
  ],
  [
    'an old item without its key',
    containers({ image: '1' }),
    containers(a),
    'does not contain declared merge key: name',
    'Invalid',
  ],
  [
    'a text in a list of objects',
    containers(a),
    spec({ containers: ['x'] }),
    'list element types are not identical',
    'Invalid',
  ],
  [
    'a null in a merged list',
    containers(a),
    spec({ containers: [null] }),
    'list element types are not identical',
    'Invalid',
  ],
  [
    'lists of lists',
    spec({ containers: [[]] }),
    spec({ containers: [[]] }),
    'lists of lists are not supported',
    'Invalid',
  ],
  ['a key that is an object', containers(a), containers({ name: {} }), 'told apart by scalars', 'Invalid'],
  [
    '$retainKeys that is no list',
    containers(a),
    spec({ $retainKeys: 'x' }),
    'invalid patch format of retainKeys',
    'BadRequest',
  ],
  [
    '$retainKeys that does not list a change',
    volumes({ name: 'v' }),
    volumes({ name: 'v', emptyDir: {}, $retainKeys: ['name'] }),
    'invalid patch format of retainKeys',
    'BadRequest',
  ],
  [
    '$setElementOrder that is no list',
    containers(a),
    spec({ '$setElementOrder/containers': {} }),
    'expected a list, but received a map',
    'Invalid',
  ],
  [
    '$setElementOrder without a list',
    containers(a),
    spec({ $setElementOrder: [] }),
    'invalid patch format of setElementOrder list',
    'BadRequest',
  ],
  [
    '$setElementOrder against the patch',
    containers(a, b),
    spec({ '$setElementOrder/containers': named('a', 'b'), containers: [b, a] }),
    "doesn't match the $setElementOrder list",
    'Invalid',
  ],
  [
    '$setElementOrder without an item of the patch',
    containers(a),
    spec({ '$setElementOrder/containers': named('a'), containers: [b] }),
    "doesn't match the $setElementOrder list",
    'Invalid',
  ],
  [
    '$setElementOrder without keys',
    containers(a),
    spec({ '$setElementOrder/containers': [{}] }),
    'does not contain declared merge key: name',
    'Invalid',
  ],
  [
    '$setElementOrder of nothing',
    spec({ containers: [] }),
    spec({ '$setElementOrder/containers': [], containers: [] }),
    'no elements',
    'Invalid',
  ],
  [
    '$setElementOrder of an unknown list',
    containers(a),
    spec({ '$setElementOrder/nothing': [] }),
    'unable to find api field in struct PodSpec for the json field "nothing"',
    'Invalid',
  ],
  [
    '$deleteFromPrimitiveList without a list',
    containers(a),
    spec({ $deleteFromPrimitiveList: [] }),
    'invalid patch format of primitive list',
    'BadRequest',
  ],
  [
    'an order inside a map',
    spec({ nodeSelector: { a: '1' } }),
    spec({ nodeSelector: { '$setElementOrder/z': [] } }),
    'instead is: map',
    'Invalid',
  ],
  [
    'a field the schema does not know',
    spec({ strange: {} }),
    spec({ strange: {} }),
    'unable to find api field in struct PodSpec for the json field "strange"',
    'Invalid',
  ],
]
