/** The minimal operator: one kind with a status. Run it: `npx tsx minimal.ts`. */
import { defineKind, run } from 'evenkeel'
import { z } from 'zod'

const Note = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Note',
  spec: z.object({ text: z.string() }),
  status: z.object({ words: z.number().int() }),
})

await run({
  controllers: [
    {
      for: Note,
      reconcile(note, { status }) {
        status.set({ words: note.spec.text.split(/\s+/).filter((word) => word !== '').length })
        status.condition('Ready', true)
      },
    },
  ],
})
