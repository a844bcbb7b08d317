/** A Shape of a drawing service, by `external` with the driver of the guide. */
import { defineController, defineKind, external } from 'evenkeel'
import type { Driver, ObjectOf } from 'evenkeel'
import { z } from 'zod'
import { Labelled, labelledCalls } from '../services.ts'
import { changes, creates, deletes, type Process } from '../steps.ts'

const Shape = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Shape',
  spec: z.object({ color: z.string(), size: z.number().int() }),
  status: z.object({}),
  reports: ['external'],
})

interface Look {
  color: string
  size: number
}

export const controllers = ({ external: { shapes } }: Process<{ shapes: Labelled<Look> }>) => {
  const driver: Driver<ObjectOf<typeof Shape>, Look, Look> = {
    name: 'shapes',
    capabilities: { labels: 'atomicOnCreate' },
    desired: ({ spec: { color, size } }) => ({ color, size }),
    ...labelledCalls(shapes),
  }
  return [defineController({ for: Shape, verbs: [external(driver, { instance: 'team-a' })] })]
}

export const scenario = {
  name: 'driver',
  quietMs: 60_000,
  external: () => ({ shapes: new Labelled<Look>() }),
  steps: [
    creates(Shape, 'foo', { spec: { color: 'purple', size: 3 } }),
    changes(Shape, 'foo', { spec: { color: 'red' } }),
    deletes(Shape, 'foo'),
  ],
}
