/**
 * A Shape is asked for in the cluster and drawn by a service that knows nothing of clusters.
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

export type ShapeObject = Stored<ObjectOf<typeof Shape>>

/** A shape as the service has it. Its id is the service's choice; its name is for people and need not be the only one. */
export interface DrawnShape {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly color: string
  readonly labels: Readonly<Record<string, string>>
}

/** What the service can do. Methods that only look begin with `list` or `get`. */
export interface ShapesApi {
  listShapes(): Promise<readonly DrawnShape[]>
  getShape(id: string): Promise<DrawnShape | undefined>
  /** The same key again gives the shape that the first call drew, and draws no other. */
  createShape(shape: Omit<DrawnShape, 'id'>, key?: string): Promise<DrawnShape>
  /** Takes back whatever came of a create with this key, and of any that is still on its way. */
  cancelCreate(key: string): Promise<void>
  updateShape(id: string, change: Partial<Omit<DrawnShape, 'id'>>): Promise<void>
  /** One that is not there is an error with `status: 404`. */
  deleteShape(id: string): Promise<void>
}
