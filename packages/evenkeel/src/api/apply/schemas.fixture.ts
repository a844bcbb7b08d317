/** Schemas for tests: one object with every way in which fields can be owned. */
import type { Schema, SchemaNode } from '../schema/schema.ts'
import type { FieldSet } from './field-set.ts'
import { formatPath } from './path-element.ts'

const text: SchemaNode = { type: 'string' }
const number: SchemaNode = { type: 'integer' }

const port: SchemaNode = {
  type: 'object',
  properties: {
    port: number,
    protocol: { ...text, default: 'TCP' },
    label: text,
    tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
  },
}

export const garden: SchemaNode = {
  type: 'object',
  properties: {
    apiVersion: text,
    kind: text,
    metadata: {
      type: 'object',
      properties: {
        name: text,
        namespace: text,
        uid: text,
        resourceVersion: text,
        generation: number,
        creationTimestamp: { ...text, format: 'date-time' },
        labels: { type: 'object', additionalProperties: text },
        annotations: { type: 'object', additionalProperties: text },
        finalizers: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
        managedFields: {
          type: 'array',
          items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          'x-kubernetes-list-type': 'atomic',
        },
      },
    },
    name: text,
    size: number,
    open: { type: 'boolean' },
    amount: { 'x-kubernetes-int-or-string': true },
    when: { ...text, format: 'date-time' },
    notes: { type: 'object', additionalProperties: text },
    deep: { type: 'object', additionalProperties: { type: 'object', additionalProperties: number } },
    box: {
      type: 'object',
      properties: { a: text, b: number, inner: { type: 'object', properties: { c: text, d: text } } },
    },
    colour: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { red: number, green: number } },
    plants: { type: 'array', items: text },
    bees: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    sizes: { type: 'array', items: number, 'x-kubernetes-list-type': 'set' },
    beds: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        properties: {
          name: text,
          rows: number,
          soil: { type: 'object', properties: { kind: text, depth: number } },
          ports: {
            type: 'array',
            items: port,
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['port', 'protocol'],
          },
        },
      },
    },
    ports: {
      type: 'array',
      items: port,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
    },
    merged: {
      type: 'array',
      items: port,
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'port',
    },
    words: { type: 'array', items: text, 'x-kubernetes-patch-strategy': 'merge' },
    anything: { 'x-kubernetes-preserve-unknown-fields': true },
    loose: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known: text } },
    maybe: { type: 'object', nullable: true, properties: { a: text } },
    status: { type: 'object', properties: { phase: text, count: number } },
  },
}

export function schemaOf(root: SchemaNode): Schema {
  return { root, definitions: () => undefined }
}

export const gardenSchema = schemaOf(garden)

/** The same object with some fields described otherwise. */
export function changedGarden(properties: Record<string, SchemaNode>): Schema {
  return schemaOf({ ...garden, properties: { ...garden.properties, ...properties } })
}

export function shownPaths(set: FieldSet): string[] {
  return [...set.paths()].map(formatPath).sort()
}
