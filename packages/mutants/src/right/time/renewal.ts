/** A Password is drawn again before it gets old; its age is on the Secret, so a restart does not lose it. */
import { defineController, defineKind } from 'evenkeel'
import { Secret } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Password = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Password',
  spec: z.object({ everySeconds: z.number().int().min(3600).max(864_000), user: z.string() }),
  status: z.object({}),
})

const drawnAt = 'right.dev/drawn-at'

export const controllers = () => [
  defineController({
    for: Password,
    owns: [Secret],
    async reconcile(password, { children, clock, random, status }) {
      const everyMs = password.spec.everySeconds * 1000
      const secret = await children.get(Secret)
      const atMs = Date.parse(secret?.metadata.annotations?.[drawnAt] ?? '')
      const isFresh = secret?.data?.['password'] !== undefined && clock.now() < atMs + everyMs
      const drawnMs = isFresh ? atMs : clock.now()
      const value = isFresh ? (secret.data?.['password'] ?? '') : btoa(`pw-${random.uint32()}-${random.uint32()}`)
      await children.apply(Secret, {
        metadata: { annotations: { [drawnAt]: new Date(drawnMs).toISOString() } },
        data: { user: btoa(password.spec.user), password: value },
      })
      status.condition('Ready', true)
      return { afterMs: drawnMs + everyMs - clock.now() }
    },
  }),
]

export const scenario = {
  name: 'renewal',
  steps: [
    creates(Password, 'login', { spec: { everySeconds: 86_400, user: 'ann' } }),
    changes(Password, 'login', { spec: { user: 'bob' } }),
    deletes(Password, 'login'),
  ],
}
