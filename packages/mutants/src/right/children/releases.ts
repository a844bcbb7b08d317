/** A Release makes one ConfigMap for each version that was released, by `children.once`. */
import { defineController, defineKind } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Release = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Release',
  spec: z.object({ version: z.string().regex(/^v[0-9]{1,3}$/), notes: z.string() }),
  status: z.object({ announced: z.string().optional() }),
  reports: ['children'],
})

export const controllers = () => [
  defineController({
    for: Release,
    owns: [ConfigMap],
    async reconcile(release, { children, status }) {
      const { version, notes } = release.spec
      const note = await children.once(
        ConfigMap,
        { data: { version, notes } },
        { key: version, keep: { Complete: 2, Failed: 1 } },
      )
      status.set({ announced: note.metadata.name })
      status.condition('Ready', children.ready())
    },
  }),
]

export const scenario = {
  name: 'releases',
  steps: [
    creates(Release, 'app', { spec: { version: 'v1', notes: 'first' } }),
    changes(Release, 'app', { spec: { version: 'v2', notes: 'second' } }),
    deletes(Release, 'app'),
  ],
}
