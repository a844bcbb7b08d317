/**
 * Step 3: shared use. The controller leaves unknown shapes alone.
 */
import type { ControllerDeclaration } from 'evenkeel'
import { Shape } from '../kinds.ts'
import { aShape, deleteIfThere, isAsWanted, pollMs } from './step.ts'
import type { Step } from './step.ts'

export const foreign: Step = {
  number: 3,
  title: 'Foreign shapes',
  does: 'The controller ignores shapes without an object, because other clients use the service too.',
  flaw: 'A deletion that it misses leaves a shape behind.',
  because:
    'When an object is deleted while the controller is down, nothing is left that it could react to. The shape looks like one of another client and stays.',
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
          explain?.(`${name} is not in the service: I draw ${aShape(object.spec)}`)
          await shapes.createShape({ name, type, color, labels: {} })
        } else if (!isAsWanted(object, mine)) {
          explain?.(`${name} is ${aShape(mine)} and should be ${aShape(object.spec)}: I change it`)
          await shapes.updateShape(mine.id, { type, color })
        }
        return { afterMs: pollMs }
      },
    }
    return [controller]
  },
}
