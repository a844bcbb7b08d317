/** Hello world: a Greeting is answered by a ConfigMap that says hello. Run it: `npx tsx app.ts`. */
import { defineKind, run, setControllerReference } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'

const Greeting = defineKind({
  group: 'demo.example.com', version: 'v1', kind: 'Greeting',
  spec: z.object({ who: z.string().default('world') }),
  status: z.object({ text: z.string() }),
})

await run({
  controllers: [{
    for: Greeting,
    owns: [ConfigMap],
    async reconcile(greeting, { client, status }) {
      const { name, namespace = 'default' } = greeting.metadata
      const text = `Hello, ${greeting.spec.who}!`
      const answer = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { text } }
      await client.apply(setControllerReference(greeting, answer), { force: true })
      status.set({ text })
      status.condition('Ready', true)
    },
  }],
})
