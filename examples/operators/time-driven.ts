/** A time-driven operator: renews a password before it gets old. Run it: `npx tsx time-driven.ts`. */
import { defineKind, run } from 'evenkeel'
import { Secret } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'

const Password = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Password',
  spec: z.object({ everySeconds: z.number().int().min(60).default(3600) }),
  status: z.object({}),
})

const drawnAt = 'demo.example.com/drawn-at'

await run({
  controllers: [
    {
      for: Password,
      owns: [Secret],
      async reconcile({ spec: { everySeconds } }, { children, clock, random, status }) {
        const everyMs = everySeconds * 1_000
        const secret = await children.get(Secret)
        // The creation time is on the password itself: a restart does not lose it.
        const atMs = Date.parse(secret?.metadata.annotations?.[drawnAt] ?? '')
        const isFresh = secret?.data !== undefined && clock.now() < atMs + everyMs
        const data = isFresh
          ? secret.data
          : { password: btoa(Array.from({ length: 4 }, () => random.uint32().toString(36)).join('')) }
        const drawnMs = isFresh ? atMs : clock.now()
        await children.apply(Secret, {
          metadata: { annotations: { [drawnAt]: new Date(drawnMs).toISOString() } },
          data,
        })
        status.condition('Ready', true)
        return { afterMs: drawnMs + everyMs - clock.now() }
      },
    },
  ],
})
