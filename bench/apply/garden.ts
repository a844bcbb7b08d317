/**
 * The input of the in-process cases: a custom kind with every kind of list and map, objects of 1 KiB and of 100 KiB,
 * and typical validation rules of CRDs.
 */
import type { JsonObject, Schema, SchemaNode } from 'evenkeel/unstable/api'

const text: SchemaNode = { type: 'string', maxLength: 256 }
const count: SchemaNode = { type: 'integer', minimum: 0, maximum: 1_000_000 }

const port: SchemaNode = {
  type: 'object',
  required: ['port'],
  properties: {
    name: text,
    port: { type: 'integer', minimum: 1, maximum: 65_535 },
    protocol: { type: 'string', enum: ['TCP', 'UDP'], default: 'TCP' },
  },
}

const bed: SchemaNode = {
  type: 'object',
  required: ['name', 'image'],
  properties: {
    name: { type: 'string', maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' },
    image: text,
    args: { type: 'array', items: text, maxItems: 20 },
    ports: {
      type: 'array',
      items: port,
      maxItems: 20,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'port',
    },
    limits: { type: 'object', additionalProperties: text },
  },
}

/** The schema as a CRD has it. */
export const root: SchemaNode = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['replicas', 'beds'],
      properties: {
        replicas: count,
        minReplicas: count,
        maxReplicas: count,
        counter: text,
        tags: { type: 'array', items: text, maxItems: 100, 'x-kubernetes-list-type': 'set' },
        beds: {
          type: 'array',
          items: bed,
          maxItems: 1000,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          'x-kubernetes-patch-strategy': 'merge',
          'x-kubernetes-patch-merge-key': 'name',
        },
      },
    },
    status: { type: 'object', properties: { ready: { type: 'boolean' } } },
  },
}

/** The schema for field management and strategic patches. */
export const schema: Schema = {
  root: {
    ...root,
    properties: {
      apiVersion: text,
      kind: text,
      metadata: {
        type: 'object',
        properties: {
          name: text,
          namespace: text,
          uid: text,
          labels: { type: 'object', additionalProperties: text },
          managedFields: { type: 'array', items: { type: 'object' } },
        },
      },
      ...root.properties,
    },
  },
  definitions: () => undefined,
}

/** Typical rules: bounds, relations between fields, lists that must contain something. */
export const rules: readonly string[] = [
  'self.minReplicas <= self.replicas && self.replicas <= self.maxReplicas',
  'self.beds.all(b, b.image.contains(":"))',
  'self.beds.exists(b, b.name == "bed-0")',
  '!has(self.tags) || self.tags.all(t, t.size() < 64 && t.matches("^[a-z0-9-]+$"))',
  'self.beds.map(b, b.ports.size()).sum() <= 2000',
]

export const apiVersion = 'bench.evenkeel.dev/v1'

/** An object of about this many bytes. */
export function gardenOf(bytes: number, counter = '0'): JsonObject {
  const beds: JsonObject[] = []
  const object = {
    apiVersion,
    kind: 'Garden',
    metadata: { name: 'garden', namespace: 'default', labels: { app: 'bench', tier: 'one' } },
    spec: { replicas: 3, minReplicas: 1, maxReplicas: 5, counter, tags: ['a-1', 'b-2', 'c-3'], beds },
  }
  let length = JSON.stringify(object).length
  while (beds.length === 0 || length < bytes) {
    const next = bedOf(beds.length)
    length += JSON.stringify(next).length + 1
    beds.push(next)
  }
  return object
}

function bedOf(index: number): JsonObject {
  return {
    name: `bed-${index}`,
    image: `registry.example.com/plants/tomato:${index}`,
    args: ['--water=daily', '--light=full', `--row=${index}`],
    ports: [
      { name: 'http', port: 8080, protocol: 'TCP' },
      { name: 'metrics', port: 9090, protocol: 'TCP' },
    ],
    limits: { cpu: '500m', memory: '64Mi' },
  }
}
