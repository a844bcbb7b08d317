/**
 * Step 3: shared use. The controller leaves unknown shapes alone.
 */
import type { ControllerDeclaration } from 'evenkeel'
import { Shape } from '../kinds.ts'
import { deleteIfThere, isAsWanted, pollMs } from './step.ts'
import type { Step } from './step.ts'

export const foreign: Step = {
  number: 3,
  title: 'Foreign shapes',
  does: 'Ignores shapes without an object: other clients use the service too.',
  lacks:
    'An object that is deleted while the controller is down leaves its shape behind, which looks like a shape of another client. That is a leak.',
  controllers({ external: { shapes }, explain }) {
    const controller: ControllerDeclaration<typeof Shape> = {
      for: Shape,
      async reconcileKey({ name, namespace = 'default' }, { client }) {
        const object = await client.find(Shape, { name, namespace })
        const mine = (await shapes.listShapes()).find((shape) => shape.name === name)
        if (!object || object.metadata.deletionTimestamp !== undefined) {
          if (!mine) return undefined
          explain?.(`${name} was deleted: I remove ${mine.id}`)
          await deleteIfThere(shapes, mine.id)
          return undefined
        }
        const { type, color } = object.spec
        if (!mine) {
          explain?.(`${name} is not in the service: I draw a ${color} ${type}`)
          await shapes.createShape({ name, type, color, labels: {} })
        } else if (!isAsWanted(object, mine)) {
          explain?.(`${name} is a ${mine.color} ${mine.type} and should be a ${color} ${type}: I change it`)
          await shapes.updateShape(mine.id, { type, color })
        }
        return { afterMs: pollMs }
      },
    }
    return [controller]
  },
}
