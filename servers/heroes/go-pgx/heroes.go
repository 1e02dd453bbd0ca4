package main

import (
	"encoding/json"
	"errors"
	"log"
	"strconv"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/valyala/fasthttp"
)

const selectHero = `
	SELECT id, name, race, hero_class, alignment, saving_throws, skills, languages, features, equipment,
	       background, damage, date_of_birth, hit_points, level, strength, dexterity, constitution,
	       intelligence, wisdom, charisma, armor_class, speed, initiative, proficiency_bonus, attack
	FROM heroes WHERE id = $1`

// hero is a row of the heroes table and the answer's JSON; pgx maps columns to fields by position.
type hero struct {
	ID               int32       `json:"id"`
	Name             string      `json:"name"`
	Race             string      `json:"race"`
	HeroClass        string      `json:"hero_class"`
	Alignment        string      `json:"alignment"`
	SavingThrows     string      `json:"saving_throws"`
	Skills           string      `json:"skills"`
	Languages        string      `json:"languages"`
	Features         string      `json:"features"`
	Equipment        string      `json:"equipment"`
	Background       string      `json:"background"`
	Damage           string      `json:"damage"`
	DateOfBirth      pgtype.Date `json:"date_of_birth"`
	HitPoints        int32       `json:"hit_points"`
	Level            int64       `json:"level"`
	Strength         int32       `json:"strength"`
	Dexterity        int32       `json:"dexterity"`
	Constitution     int32       `json:"constitution"`
	Intelligence     int32       `json:"intelligence"`
	Wisdom           int32       `json:"wisdom"`
	Charisma         int32       `json:"charisma"`
	ArmorClass       int32       `json:"armor_class"`
	Speed            int32       `json:"speed"`
	Initiative       int32       `json:"initiative"`
	ProficiencyBonus int32       `json:"proficiency_bonus"`
	Attack           int32       `json:"attack"`
}

// heroController answers for /heroes/{id}.
type heroController struct {
	heroes *pgxpool.Pool
	// answered stands in for the level, so that no two answers are equal; it is never written back.
	answered atomic.Int64
}

func (c *heroController) get(ctx *fasthttp.RequestCtx) {
	id, err := strconv.ParseInt(ctx.UserValue("id").(string), 10, 32)
	if err != nil {
		problem(ctx, fasthttp.StatusBadRequest)
		return
	}
	// The error of Query comes out of CollectExactlyOneRow as well.
	rows, _ := c.heroes.Query(ctx, selectHero, id)
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[hero])
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		problem(ctx, fasthttp.StatusNotFound)
	case err != nil:
		log.Print(err)
		problem(ctx, fasthttp.StatusInternalServerError)
	default:
		found.Level = c.answered.Add(1)
		answer(ctx, fasthttp.StatusOK, "application/json; charset=utf-8", found)
	}
}

// problem answers with a problem detail (RFC 9457).
func problem(ctx *fasthttp.RequestCtx, status int) {
	answer(ctx, status, "application/problem+json", map[string]any{
		"type": "about:blank", "title": fasthttp.StatusMessage(status), "status": status, "instance": string(ctx.Path()),
	})
}

func answer(ctx *fasthttp.RequestCtx, status int, contentType string, content any) {
	body, err := json.Marshal(content)
	if err != nil {
		log.Print(err)
		status = fasthttp.StatusInternalServerError
	}
	ctx.SetStatusCode(status)
	ctx.SetContentType(contentType)
	ctx.SetBody(body)
}
