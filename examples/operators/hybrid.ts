/** A hybrid operator: watches the cluster and polls an external page. Run it: `npx tsx hybrid.ts`. */
import { defineKind, run } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'

const Mirror = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Mirror',
  spec: z.object({ url: z.string(), everySeconds: z.number().int().min(1).default(30) }),
  status: z.object({ bytes: z.number().int() }),
})

await run({
  controllers: [
    {
      for: Mirror,
      // Events: a changed copy is restored at once.
      owns: [ConfigMap],
      async reconcile({ spec: { url, everySeconds } }, { children, signal, status }) {
        const answer = await fetch(url, { signal })
        if (!answer.ok) throw new Error(`${url} returned ${answer.status}`)
        const text = await answer.text()
        await children.apply(ConfigMap, { data: { text } })
        status.set({ bytes: text.length })
        status.condition('Ready', true)
        // Time: the page sends no events.
        return { afterMs: everySeconds * 1_000 }
      },
    },
  ],
})
