/**
 * The scenario of Shapes: the Explorer runs it with every step under every single fault.
 */
import type { UserStep } from 'evenkeel/testing'
import { Shape } from './kinds.ts'
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
    // A shape of another owner, which exists before the program starts and must stay.
    shapes.createShape({ name: 'bar', type: 'circle', color: 'blue', labels: {} })
    return { shapes }
  },
  // The ids do not matter; the number of shapes and their properties do.
  services: {
    shapes: {
      contents: ({ shapes }: ShapesInMemory) => ({ drawn: [...shapes.values()].map(({ id: _, ...shape }) => shape) }),
    },
  },
}
