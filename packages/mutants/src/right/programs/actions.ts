/** A Player can be stopped and restarted: an action that changes the spec, and one with a token. */
import { action, defineController, defineKind } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { Buckets } from '../services.ts'
import { changes, creates, deletes, type Process } from '../steps.ts'

const Player = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Player',
  spec: z.object({ isRunning: z.boolean().default(true), song: z.string() }),
  status: z.object({ isUp: z.boolean().optional() }),
  reports: ['actions'],
})

const stop = action('stop', { form: 'state', about: 'Stops the player.', patch: { spec: { isRunning: false } } })
const refresh = action('refresh', { form: 'token', about: 'Loads the song again.' })

export const controllers = ({ external: { songs } }: Process<{ songs: Buckets }>) => [
  defineController({
    for: Player,
    owns: [ConfigMap],
    verbs: [stop, refresh],
    async reconcile(player, context) {
      const { uid, name } = player.metadata
      await refresh.handle(context, () => songs.delete(uid))
      if (player.spec.isRunning) await songs.ensure(uid, { owner: name, region: player.spec.song })
      else await songs.delete(uid)
      await context.children.apply(ConfigMap, { data: { song: player.spec.song } })
      context.status.set({ isUp: player.spec.isRunning })
    },
    async cleanup(player) {
      await songs.delete(player.metadata.uid)
    },
  }),
]

export const scenario = {
  name: 'actions',
  external: () => ({ songs: new Buckets() }),
  steps: [
    creates(Player, 'radio', { spec: { song: 'one' } }),
    changes(Player, 'radio', { metadata: { annotations: { 'action.evenkeel.dev/refresh': 'once' } } }),
    changes(Player, 'radio', { spec: { isRunning: false } }),
    deletes(Player, 'radio'),
  ],
}
