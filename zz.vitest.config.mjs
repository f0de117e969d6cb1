export default { test: { include: ['test/support/server/spec/*.spec.mjs'], fileParallelism:false } };
