/**
 * What people do to Shapes, for the Explorer: it plays this against every step, under every single fault.
 */
import type { UserStep } from 'evenkeel/testing'
import { Shape } from './kinds.ts'
import type { ShapesApi } from './kinds.ts'
import { ShapesInMemory } from './service/shapes-in-memory.ts'

const place = { name: 'foo', namespace: 'default' }

const steps: readonly UserStep[] = [
  {
    name: 'creates Shape foo, a purple square',
    run: (user) => user.create(Shape, { metadata: place, spec: { type: 'square', color: 'purple' } }),
  },
  { name: 'makes it red', run: async (user) => user.patch(await user.get(Shape, place), { spec: { color: 'red' } }) },
  { name: 'deletes it', run: async (user) => user.delete(await user.get(Shape, place)) },
]

export const scenario = {
  name: 'shapes',
  steps,
  external: () => {
    const shapes = new ShapesInMemory()
    // Somebody else's, there before us and to be left alone.
    shapes.createShape({ name: 'bar', type: 'circle', color: 'blue', labels: {} })
    return { shapes: shapes as unknown as ShapesApi }
  },
  // Which id a shape has is the service's business; what counts is how many there are, and what they look like.
  services: {
    shapes: {
      contents: ({ shapes }: ShapesInMemory) => ({ drawn: [...shapes.values()].map(({ id: _, ...shape }) => shape) }),
    },
  },
}
