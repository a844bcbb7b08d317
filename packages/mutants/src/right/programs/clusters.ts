/** Two levels: a Grid has Nodes, and each Node is a bucket in a cloud. */
import { defineController, defineKind } from 'evenkeel'
import { z } from 'zod'
import { Buckets } from '../services.ts'
import { changes, creates, deletes, type Process } from '../steps.ts'

const GridNode = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'GridNode',
  spec: z.object({ region: z.string().min(1) }),
  status: z.object({ region: z.string().optional() }),
})

const Grid = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Grid',
  spec: z.object({ nodes: z.number().int().min(0).max(3), region: z.string().min(1) }),
  status: z.object({ nodes: z.number().int().optional() }),
  reports: ['children'],
})

export const controllers = ({ external: { cloud } }: Process<{ cloud: Buckets }>) => [
  defineController({
    for: GridNode,
    async reconcile(node, { status }) {
      const { region } = node.spec
      await cloud.ensure(`node-${node.metadata.uid}`, { owner: node.metadata.name, region })
      status.set({ region })
      status.condition('Ready', true)
    },
    async cleanup(node) {
      await cloud.delete(`node-${node.metadata.uid}`)
    },
  }),
  defineController({
    for: Grid,
    owns: [GridNode],
    async reconcile(grid, { children, status }) {
      const { nodes, region } = grid.spec
      if (nodes === 0) children.none()
      for (let index = 0; index < nodes; index++)
        await children.apply(GridNode, { metadata: { name: `${grid.metadata.name}-${index}` }, spec: { region } })
      status.set({ nodes })
      status.condition('Ready', children.ready())
    },
  }),
]

export const scenario = {
  name: 'clusters',
  external: () => ({ cloud: new Buckets() }),
  steps: [
    creates(Grid, 'lab', { spec: { nodes: 2, region: 'north' } }),
    changes(Grid, 'lab', { spec: { nodes: 1, region: 'south' } }),
    deletes(Grid, 'lab'),
  ],
}
