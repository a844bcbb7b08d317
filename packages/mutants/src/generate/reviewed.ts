/**
 * Mutants that a person has read, and that are as right as the original, each with the reason.
 *
 * Not being found is no reason. "Another right program" is one: it wants something else, always, and keeps every rule.
 */
interface Reviewed {
  readonly mutant: string
  readonly because: string
}

export const reviewed: readonly Reviewed[] = [
  {
    mutant: 'children/config-hash:off-by-one:22:82',
    because: 'a hash without its first digit is a hash of the same settings',
  },
  {
    mutant: 'children/phases:off-by-one:41:105',
    because: 'another right program: port 81 in place of port 80, always',
  },
  {
    mutant: 'client/apply:always-true:34:15',
    because: 'NotFound of a delete fails the run, and the retry finds the child gone: slower, and right',
  },
  {
    mutant: 'programs/login:name-loses-part:23:32',
    because: 'another right program: a password with one random part in place of two',
  },
  {
    mutant: 'time/cron-job:drop-field:35:19',
    because: 'another right program: the number of retries that the server takes by default',
  },
  {
    mutant: 'time/cron-job:off-by-one:35:33',
    because: 'another right program: one more retry',
  },
  {
    mutant: 'time/cron-job:off-by-one:36:67',
    because: 'another right program: one more finished Job is kept',
  },
  {
    mutant: 'time/migration:off-by-one:18:75',
    because: 'another right program: a factor of 101, always',
  },
]
