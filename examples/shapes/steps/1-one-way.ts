/**
 * Step 1: one-way. The object changes, the controller calls the service. It never reads the service.
 */
import type { ControllerDeclaration } from 'evenkeel'
import { Shape } from '../kinds.ts'
import { aShape } from './step.ts'
import type { Step } from './step.ts'

export const oneWay: Step = {
  number: 1,
  title: 'One way',
  does: 'The controller calls the service whenever the object changes. It remembers in memory what it drew.',
  flaw: 'After a restart it draws foo a second time.',
  because:
    'Its memory is empty after a restart, so every object looks new. It never reads the service either: when another client removes or repaints a shape, the shape stays wrong.',
  controllers({ external: { shapes }, explain }) {
    const ids = new Map<string, string>()
    const drawn = new Map<string, string>()
    const controller: ControllerDeclaration<typeof Shape> = {
      for: Shape,
      async reconcileKey({ name, namespace = 'default' }, { client }) {
        const shape = await client.find(Shape, { name, namespace })
        const id = ids.get(name)
        if (!shape) {
          if (id !== undefined) {
            explain?.(`${name} was deleted: I remove the shape that I remember`)
            await shapes.deleteShape(id)
          }
          ids.delete(name)
          return
        }
        const { type, color } = shape.spec
        const wanted = `${type} ${color}`
        if (drawn.get(name) === wanted) return
        if (id === undefined) {
          explain?.(`${name} is new: I draw ${aShape(shape.spec)}`)
          ids.set(name, (await shapes.createShape({ name, type, color, labels: {} })).id)
        } else {
          explain?.(`${name} changed: I make it ${aShape(shape.spec)}`)
          await shapes.updateShape(id, { type, color })
        }
        drawn.set(name, wanted)
      },
    }
    return [controller]
  },
}
