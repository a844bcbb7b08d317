/**
 * Mistakes that are planted by hand in right controllers, beside those that operators make.
 *
 * The first ten are for the CronJob and the Database that a first-time user wrote: five each.
 */
interface Planted {
  readonly controller: string
  readonly mistake: string
  /** Texts of the source, each of which occurs in it once, and what is in their place. */
  readonly edits: readonly (readonly [from: string, to: string])[]
}

const cronJob = 'time/cron-job'
const database = 'external/database'

const onceJob = `      await children.once(
        Job,
        { spec: { backoffLimit: 2, template } },
        { key: String(dueMs / 1000), keep: { Complete: 2, Failed: 1 } },
      )`

export const planted: readonly Planted[] = [
  {
    controller: cronJob,
    mistake: 'the time of the run and not of its period is the key: another Job for every reconcile',
    edits: [['key: String(dueMs / 1000)', 'key: String(clock.now())']],
  },
  {
    controller: cronJob,
    mistake: 'the status has the time of the reconcile',
    edits: [['lastRun: new Date(dueMs).toISOString()', 'lastRun: new Date(clock.now()).toISOString()']],
  },
  {
    controller: cronJob,
    mistake: 'never comes again for the next period',
    edits: [['return { afterMs: dueMs + everyMs - clock.now() }', 'return undefined']],
  },
  {
    controller: cronJob,
    mistake: 'the Job is applied and not made once: a new image changes a Job that runs',
    edits: [
      [
        onceJob,
        `      await children.apply(Job, {
        metadata: { name: \`\${nightly.metadata.name}-\${dueMs / 1000}\` },
        spec: { backoffLimit: 2, template },
      })`,
      ],
    ],
  },
  {
    controller: cronJob,
    mistake: 'the Job has a name that the server generates, and the status remembers that there is one',
    edits: [
      ['{ children, clock, status }', '{ client, clock, status }'],
      [
        onceJob,
        `      const owner = { apiVersion: 'right.dev/v1', kind: 'Nightly', controller: true }
      const { name, uid, namespace = 'default' } = nightly.metadata
      if (nightly.status?.lastRun !== new Date(dueMs).toISOString())
        await client.create(Job, {
          metadata: { generateName: 'job-', namespace, ownerReferences: [{ ...owner, name, uid }] },
          spec: { backoffLimit: 2, template },
        })`,
      ],
    ],
  },
  {
    controller: database,
    mistake: 'the connection has a name without the database',
    edits: [[`name: \`\${name}-connection\``, "name: 'connection'"]],
  },
  {
    controller: database,
    mistake: 'the password is copied into the ConfigMap',
    edits: [
      ['const { id } = await database.sync(context)', 'const { id, observed } = await database.sync(context)'],
      ['data: { endpoint } })', 'data: { endpoint, password: observed.password } })'],
    ],
  },
  {
    controller: database,
    mistake: 'an update loses the labels of ownership',
    edits: [
      [
        '...labelledCalls(databases),',
        '...labelledCalls(databases),\n    update: (id, settings) => databases.change(id, settings, {}),',
      ],
    ],
  },
  {
    controller: database,
    mistake: 'the endpoint of the first database is that of all',
    edits: [
      ['  return [\n', '  let first: string | undefined\n  return [\n'],
      ['const endpoint = ', 'const endpoint = first ??= '],
    ],
  },
  {
    controller: database,
    mistake: 'the driver reports a removal that it has not made',
    edits: [['...labelledCalls(databases),', '...labelledCalls(databases),\n    remove: () => Promise.resolve(),']],
  },
]
