/**
 * Step 4: an ownership label. Shapes with `owner: k8s` are ours, others are not.
 */
import type { ControllerDeclaration } from 'evenkeel'
import { Shape } from '../kinds.ts'
import { aShape, deleteIfThere, isAsWanted, pollMs } from './step.ts'
import type { Step } from './step.ts'

const labels = { owner: 'k8s' }

export const ownerMark: Step = {
  number: 4,
  title: 'Missed deletion',
  does: 'The controller labels its shapes with owner: k8s. It removes labelled shapes without an object, and so catches up on deletions that it missed.',
  flaw: 'It removes a shape of another client that has the same label.',
  because: 'Any client can write the label. It says that a shape is ours, but not which object it belongs to.',
  readsLabels: true,
  controllers({ external: { shapes }, explain }) {
    const controller: ControllerDeclaration<typeof Shape> = {
      for: Shape,
      async reconcileKey({ name }, { client }) {
        const objects = (await client.list(Shape)).items.filter(
          ({ metadata }) => metadata.deletionTimestamp === undefined,
        )
        const owned = (await shapes.listShapes()).filter((shape) => shape.labels['owner'] === labels.owner)
        for (const shape of owned) {
          if (objects.some((object) => object.metadata.name === shape.name)) continue
          explain?.(`${shape.name} (${shape.id}) has my label and no object wants it: I missed a deletion, I remove it`)
          await deleteIfThere(shapes, shape.id)
        }
        const object = objects.find(({ metadata }) => metadata.name === name)
        if (!object) return undefined
        const mine = owned.find((shape) => shape.name === name)
        const { type, color } = object.spec
        if (!mine) {
          explain?.(`none of my shapes is called ${name}: I draw ${aShape(object.spec)}`)
          await shapes.createShape({ name, type, color, labels })
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
