/** Sends what was paid: each order once a second, from the database. */
const { DATABASE_URL } = process.env
const orders = `${DATABASE_URL}/tables/orders`
const everyMs = 1000

async function work() {
  const rows = await (await fetch(orders)).json()
  for (const row of rows.filter(({ state }) => state === 'paid')) {
    await fetch(`${orders}/${row.id}`, { method: 'PUT', body: JSON.stringify({ ...row, state: 'sent' }) })
    console.log(`worker: order ${row.id} was sent`)
  }
}

console.log('worker: ready')
let timer
const again = async () => {
  await work().catch((error) => console.error(`worker: ${error.message}`))
  timer = setTimeout(again, everyMs)
}
process.on('SIGTERM', () => {
  clearTimeout(timer)
  process.exit(0)
})
await again()
