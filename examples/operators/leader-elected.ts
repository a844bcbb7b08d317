/** A leader-elected operator: of many replicas, one assigns numbers. Run it several times: `npx tsx leader-elected.ts`. */
import { defineKind, run } from 'evenkeel'
import { z } from 'zod'

const Ticket = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Ticket',
  printerColumns: [{ name: 'Number', type: 'integer', jsonPath: '.status.number' }],
  spec: z.object({ who: z.string() }),
  status: z.object({ number: z.number().int() }),
})

await run({
  name: 'tickets',
  leaderElection: {
    onState: ({ state }) => {
      console.log(`process ${process.pid}: ${state}`)
    },
  },
  controllers: [
    {
      for: Ticket,
      async reconcile(ticket, { client, status }) {
        if (ticket.status?.number !== undefined) return
        // Two processes at once would assign the same number twice. Only the leader runs, and a process with an uncertain lease sends no write.
        const { items } = await client.list(Ticket, { live: true })
        status.set({ number: 1 + Math.max(0, ...items.map((one) => one.status?.number ?? 0)) })
        status.condition('Ready', true)
      },
    },
  ],
})
