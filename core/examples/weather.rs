//! A first server: it says what the weather is, and grows a tool when a storm comes up.

use serde::Deserialize;
use tocsin::{Context, Server, Tool, handler, handler_sync};

#[derive(Deserialize, schemars::JsonSchema)]
struct Forecast {
    city: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::new("weather", "1.0")?;
    server.tools().add(
        Tool::new("forecast").description("The weather of a city.").input::<Forecast>(),
        handler(async |args: Forecast, _: Context| Ok(format!("Rain in {}.", args.city))),
    )?;

    let me = server.clone();
    server.tools().add(
        Tool::new("storm").description("A storm comes up: adds a tool, and every client hears of it."),
        handler_sync(move |_: serde_json::Value, _: &Context| {
            let warning = Tool::new("warning").description("The storm warning.");
            me.tools().add(warning, handler_sync(|_: serde_json::Value, _: &Context| Ok("Stay at home!")))?;
            Ok("A storm comes up.")
        }),
    )?;
    server.serve_stdio()?;
    Ok(())
}
