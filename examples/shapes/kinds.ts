/**
 * A Shape is an object in the cluster; a service without Kubernetes draws it.
 */
import { defineKind } from 'evenkeel'
import type { ObjectOf, Stored } from 'evenkeel'

export const Shape = defineKind({
  group: 'shapes.example.com',
  version: 'v1',
  kind: 'Shape',
  printerColumns: [
    { name: 'Type', type: 'string', jsonPath: '.spec.type' },
    { name: 'Color', type: 'string', jsonPath: '.spec.color' },
    { name: 'Id', type: 'string', jsonPath: '.status.external.id' },
  ],
  spec: {
    type: 'object',
    required: ['type', 'color'],
    properties: {
      type: { type: 'string', enum: ['circle', 'square', 'triangle'] },
      color: { type: 'string', pattern: '^(#[0-9a-f]{6}|[a-z]{1,20})$' },
    },
  },
  status: { type: 'object', properties: { id: { type: 'string' }, message: { type: 'string' } } },
  reports: ['external'],
} as const)

/** The object of the buttons, and the colors it can get; the first one is that of a new object. */
export const foo = { name: 'foo', namespace: 'default' } as const
export const colors = ['purple', 'orange', 'teal', 'crimson', 'gold', 'navy'] as const

export type ShapeObject = Stored<ObjectOf<typeof Shape>>

/** A shape of the service. The service chooses the id; the name is for people and not unique. */
export interface DrawnShape {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly color: string
  readonly labels: Readonly<Record<string, string>>
}

/** At once by a service in memory, later over a network. */
type Answer<T> = Promise<T> | T

/** The API of the service. Methods that only read begin with `list` or `get`. */
export interface ShapesApi {
  listShapes(): Answer<readonly DrawnShape[]>
  getShape(id: string): Answer<DrawnShape | undefined>
  /** A repeated key returns the shape of the first call. */
  createShape(shape: Omit<DrawnShape, 'id'>, key?: string): Answer<DrawnShape>
  /** Cancels a create with this key, also one that has not arrived yet. */
  cancelCreate(key: string): Answer<void>
  updateShape(id: string, change: Partial<Omit<DrawnShape, 'id'>>): Answer<void>
  /** A missing shape is an error with `status: 404`. */
  deleteShape(id: string): Answer<void>
}
