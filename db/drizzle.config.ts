/** For `npx drizzle-kit generate --config db/drizzle.config.ts`; nothing reads it at run time. */
import { defineConfig } from 'drizzle-kit';

export default defineConfig({ dialect: 'sqlite', schema: './db/schema.ts', out: './db/migrations' });
