/**
 * Step 1: one-way. The object changes, the controller calls the service. It never reads the service.
 */
import type { ControllerDeclaration } from 'evenkeel'
import { Shape } from '../kinds.ts'
import type { Step } from './step.ts'

export const oneWay: Step = {
  number: 1,
  title: 'One way',
  does: 'Calls the service whenever the object changes.',
  lacks:
    'It never reads the service: a removed shape stays missing, a recolored one stays wrong. It keeps its shapes only in memory: after a restart it draws again.',
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
          explain?.(`${name} is new: I draw a ${color} ${type}`)
          ids.set(name, (await shapes.createShape({ name, type, color, labels: {} })).id)
        } else {
          explain?.(`${name} changed: I make it a ${color} ${type}`)
          await shapes.updateShape(id, { type, color })
        }
        drawn.set(name, wanted)
      },
    }
    return [controller]
  },
}
