/** Hello world: a Greeting gets a ConfigMap that says hello. Run it: `npx tsx app.ts`. */
import { defineKind, run } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'

const Greeting = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Greeting',
  spec: z.object({ who: z.string().default('world') }),
  status: z.object({ text: z.string() }),
})

await run({
  controllers: [
    {
      for: Greeting,
      owns: [ConfigMap],
      async reconcile(greeting, { children, status }) {
        const text = `Hello, ${greeting.spec.who}!`
        await children.apply(ConfigMap, { data: { text } })
        status.set({ text })
        status.condition('Ready', true)
      },
    },
  ],
})
