/** A Book has a ConfigMap for each page, by `children`; pages that are removed are pruned. */
import { defineController, defineKind } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Book = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Book',
  spec: z.object({ pages: z.number().int().min(0).max(4), title: z.string() }),
  status: z.object({ pages: z.number().int().optional() }),
  reports: ['children'],
})

export const controllers = () => [
  defineController({
    for: Book,
    owns: [ConfigMap],
    async reconcile(book, { children, status }) {
      const { name } = book.metadata
      if (book.spec.pages === 0) children.none()
      for (let page = 1; page <= book.spec.pages; page++)
        await children.apply(ConfigMap, {
          metadata: { name: `${name}-page-${page}` },
          data: { title: book.spec.title, page: String(page) },
        })
      status.set({ pages: book.spec.pages })
      status.condition('Ready', children.ready())
    },
  }),
]

export const scenario = {
  name: 'pages',
  steps: [
    creates(Book, 'novel', { spec: { pages: 2, title: 'One' } }),
    changes(Book, 'novel', { spec: { pages: 1, title: 'Two' } }),
    deletes(Book, 'novel'),
  ],
}
